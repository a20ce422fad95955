import { type CommonFlags, inSession, OK, Session } from '../cli/session.ts';

export function volumeScan(dir: string, flags: CommonFlags): Promise<number> {
  return inSession(new Session(flags), async (session) => {
    session.note(dir);
    return OK;
  });
}
