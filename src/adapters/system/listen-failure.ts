/** Why a server cannot listen, from the code of the system's error. */

const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EACCES: 'this user may not listen on that port',
  EADDRNOTAVAIL: 'this machine does not have that address',
  ENOTFOUND: 'that name has no address',
}

/** A clause for the `why` of a failure. */
export function whyNotListening(code: string | undefined): string {
  return WHY[code ?? ''] ?? `the system says ${code ?? 'no'}`
}
