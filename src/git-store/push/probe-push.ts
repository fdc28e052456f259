/**
 * Each push falsely claims that the ref is at the base commit, and shall stay there. `receive-pack`
 * runs the hooks, where forges and people keep their rules, before it compares the ref and refuses
 * (docs/facts/push-rehearsal.md).
 */
import { Failure } from '@backporch/kyaml/failure'
import { formatForeignLine } from '@backporch/kyaml/text'
import type { Environment } from '@backporch/system/child-environment'
import { encodePack } from '../objects/object-format.ts'
import type { PushAnswer, PushTexts } from '../ports/package-repository.ts'
import type { GitTransport, TransportLimits } from '../protocol/git-transport.ts'
import { HttpTransport, type TokenSource } from '../protocol/http-transport.ts'
import { ProcessTransport } from '../protocol/process-transport.ts'
import { parseRemoteAddress } from '../protocol/remote-address.ts'
import { sendPush } from './push-pack.ts'

interface ProbePushOptions {
  readonly remote: string
  readonly token?: string | TokenSource
  readonly workingDirectory: string
  readonly environment: Environment
  readonly serverTexts?: readonly PushTexts[]
}

const LIMITS: TransportLimits = { silence: 60_000, bytes: 64 * 1024 * 1024 }

/** For a ref that is not where the push claims: git 2.0 to 2.49, and later ones. */
const STALE = new Set([
  'failed to update ref',
  'failed to lock',
  'incorrect old value provided',
  'reference does not exist',
])

/**
 * @param refs full names. A ref at the base commit itself is `unclear`.
 * @throws Failure BP40xx if the repository is unreachable, rejects the account or has no base
 * branch
 */
export async function probePush(
  options: ProbePushOptions,
  baseBranch: string,
  refs: readonly string[],
  signal: AbortSignal,
): Promise<readonly PushAnswer[]> {
  const address = parseRemoteAddress(options.remote, options.workingDirectory)
  const transport =
    address.kind === 'http'
      ? new HttpTransport(address, options.token, options.environment, LIMITS)
      : new ProcessTransport(address, options.environment, LIMITS)
  const target = {
    transport,
    remote: address.printed,
    baseBranch,
    serverTexts: options.serverTexts ?? [],
  }
  const answers: PushAnswer[] = []
  // A hook that rejects one ref rejects the whole push.
  for (const ref of refs) answers.push(await probeOne(target, ref, signal))
  return answers
}

interface PushTarget {
  readonly transport: GitTransport
  readonly remote: string
  readonly baseBranch: string
  readonly serverTexts: readonly PushTexts[]
}

async function probeOne(target: PushTarget, ref: string, signal: AbortSignal): Promise<PushAnswer> {
  const { transport, baseBranch } = target
  const session = await transport.open('git-receive-pack', signal).catch(getOwnRefusal)
  if (session instanceof Failure) return { ref, answer: 'refused', why: session.why }
  try {
    const { refs, capabilities, agent } = session.advertisement
    const base = refs.get(`refs/heads/${baseBranch}`)
    // A CI checkout has only its remote's branch.
    if (base === undefined)
      return {
        ref,
        answer: 'unclear',
        why: `it has no branch ${JSON.stringify(baseBranch)}, with whose commit a push is tried`,
      }
    if (refs.get(ref) === base)
      return { ref, answer: 'unclear', why: 'it is at the commit of the base branch' }
    if (!capabilities.has('report-status'))
      return { ref, answer: 'unclear', why: 'the server does not report what became of a push' }
    const { unpacked, refused, messages } = await sendPush(
      session,
      [{ ref, from: base, to: base }],
      encodePack([]),
    )
    const reason = refused.get(ref)
    const texts = target.serverTexts.find((server) => server.agent.test(agent ?? ''))
    if (
      unpacked === 'ok' &&
      reason !== undefined &&
      (STALE.has(reason) || texts?.stale.test(reason) === true)
    )
      return { ref, answer: 'let-through', why: '' }
    const reported = formatForeignLine(
      [unpacked === 'ok' ? '' : unpacked, reason ?? '', messages].join('\n'),
      { secrets: transport.secrets },
    )
    // An unexpectedly accepted push and an unknown text prove nothing.
    const bySomeRule =
      reason !== undefined &&
      (texts === undefined || (unpacked === 'ok' && texts.refused.test(reason)))
    return {
      ref,
      answer: bySomeRule ? 'refused' : 'unclear',
      why: reported === '' ? 'the server says nothing about it' : reported,
    }
  } catch (thrown) {
    throw transport.explain(thrown, signal)
  } finally {
    await session.close()
  }
}

/** Backporch does not push to a clone with hooks. */
function getOwnRefusal(thrown: unknown): Failure {
  if (thrown instanceof Failure && thrown.code === 'BP4002') return thrown
  throw thrown
}
