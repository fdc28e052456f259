/** git documentation, git-credential. */
import { devNull } from 'node:os'
import type { Environment } from '@backporch/system/child-environment'
import { runGit } from '../program/git-program.ts'
import type { Credential } from './remote-address.ts'

/** `git credential fill` asks helpers of user and machine, not those of a clone, and no person. */
export async function findCredential(
  url: string,
  environment: Environment,
  signal: AbortSignal,
): Promise<Credential | undefined> {
  const { protocol, host, pathname } = new URL(url)
  const question = `protocol=${protocol.slice(0, -1)}\nhost=${host}\npath=${decodeURIComponent(pathname.slice(1))}\n\n`
  const answer = await runGit(
    ['--git-dir', devNull, 'credential', 'fill'],
    environment,
    signal,
    question,
  )
  if (answer === 'not-installed' || answer.status !== 0) return undefined
  const lines = answer.stdout.toString('utf8').split('\n')
  const valueOfKey = (name: string) =>
    lines.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1)
  const username = valueOfKey('username')
  const password = valueOfKey('password')
  return username === undefined || password === undefined ? undefined : { username, password }
}
