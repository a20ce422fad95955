export async function initVolume(_path: string): Promise<void> {}
