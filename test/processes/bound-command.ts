import { existsSync } from 'node:fs'

/** Of util-linux, which Debian always has. */
const SETPRIV = '/usr/bin/setpriv'
const isBindable = process.platform === 'linux' && existsSync(SETPRIV)

/**
 * The program and its arguments for `spawn` or `execFile`, so that the child ends with this process however this process ends: the kernel kills it,
 * also where it stands still. Its process id is that of the program. For a child that would otherwise live on: a server belongs to a guard.
 */
export function boundCommand(
  program: string,
  args: readonly string[],
): [program: string, args: readonly string[]] {
  return isBindable ? [SETPRIV, ['--pdeathsig', 'KILL', '--', program, ...args]] : [program, args]
}
