import { type CommonFlags, inSession, OK, Session } from '../cli/session.ts';

export type InspectFlags = CommonFlags;

export function inspect(path: string, flags: InspectFlags): Promise<number> {
  return inSession(new Session(flags), async (session) => {
    session.note(path);
    return OK;
  });
}
