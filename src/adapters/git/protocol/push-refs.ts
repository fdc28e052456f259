/** Moves refs on the remote: checks before, sends, and finds the outcome in the refs of the remote. */
import { Failure } from '../../../failure.ts'
import type { ObjectId } from '../../../package/object-id.ts'
import type { RefUpdate } from '../../../ports/package-repository.ts'
import { foreignLine } from '../../../text/foreign-text.ts'
import { unreachable } from '../git-failure.ts'
import type { NewObjects } from '../objects/new-objects.ts'
import { encodePack } from '../objects/object-format.ts'
import type { ObjectSource } from '../objects/object-source.ts'
import type { Advertisement } from './advertisement.ts'
import type { GitTransport } from './git-transport.ts'
import { type PushCommand, type PushReport, sendPush } from './push-pack.ts'

interface PushParts {
  /** As it may be printed. */
  readonly remote: string
  readonly transport: GitTransport
  readonly objects: ObjectSource
  readonly created: NewObjects
  /** A better failure for a refusal that a checked-out work tree explains, or undefined. */
  readonly explainRefusal: (updates: readonly RefUpdate[], signal: AbortSignal) => Promise<Failure | undefined>
}

/**
 * Compare and swap of every update; see `PackageRepository.push`. It is no fault when all refs are at their targets already: the same push was
 * done before and its answer was lost. An update with `from` equal to `to` asserts the ref and moves nothing.
 */
export async function pushRefs(parts: PushParts, updates: readonly RefUpdate[], signal: AbortSignal): Promise<void> {
  const session = await parts.transport.open('git-receive-pack', signal)
  let report: PushReport | Failure
  try {
    const { advertisement } = session
    if (updates.every((update) => seenAt(advertisement, parts.objects.known, update) === update.to)) return
    const moved = updates.filter((update) => seenAt(advertisement, parts.objects.known, update) !== update.from)
    if (moved.length > 0) throw leaseLost(parts.remote, moved, [])
    const commands = updates
      .filter(({ from, to }) => from !== to)
      .map(({ ref, from, to }) => ({ ref, to, from: from === null ? null : (advertisement.refs.get(ref) ?? from) }))
    assertCapable(parts.remote, advertisement, commands)
    assertFree(parts.remote, advertisement, commands)
    const tips = commands.flatMap(({ to }) => (to === null ? [] : [to]))
    const pack = encodePack(parts.created.missingFrom(tips, new Set(advertisement.refs.values())))
    report = await sendPush(session, commands, pack).catch((thrown: unknown) => lostAnswer(parts, thrown, signal))
  } finally {
    await session.close()
  }
  await judge(parts, updates, report, signal)
}

/** The remote's value of the ref, in the terms of `RefUpdate`: annotated tags peeled, where the server sends that. */
function seenAt(advertisement: Advertisement, known: Advertisement | undefined, { ref }: RefUpdate): ObjectId | null {
  const id = advertisement.refs.get(ref) ?? null
  return id !== null && known?.refs.get(ref) === id ? (known.peeled.get(ref) ?? id) : id
}

function assertCapable(remote: string, { capabilities }: Advertisement, commands: readonly PushCommand[]): void {
  const missing = ['report-status', ...(commands.some(({ to }) => to === null) ? ['delete-refs'] : [])].find(
    (name) => !capabilities.has(name),
  )
  if (missing === undefined) return
  throw refusedByRule(remote, `the server does not offer ${missing}`)
}

/** git keeps no ref below another one. A ref that the same push deletes counts: servers refuse that too. */
function assertFree(remote: string, { refs }: Advertisement, commands: readonly PushCommand[]): void {
  for (const { ref, from, to } of commands) {
    const inWay = from !== null || to === null ? undefined : [...refs.keys()].find((there) => isBelow(ref, there) || isBelow(there, ref))
    if (inWay === undefined) continue
    const name = inWay.replace(/^refs\/heads\//, '')
    throw new Failure({
      code: 'BP4002',
      what: `${ref.replace(/^refs\/heads\//, '')} cannot be made`,
      where: remote,
      why: `${inWay} is there, and git keeps no branch below another one`,
      remedy: `rename ${name} on the remote: git push origin ${inWay}:refs/heads/NEW-NAME :${inWay}`,
      retry: 'on-change',
    })
  }
}

function isBelow(ref: string, above: string): boolean {
  return ref.startsWith(`${above}/`)
}

/** No answer came to the push. A failure that says more than "unreachable" ends it here. */
function lostAnswer(parts: PushParts, thrown: unknown, signal: AbortSignal): Failure {
  const explained = parts.transport.explain(thrown, signal)
  if (explained instanceof Failure && explained.code === 'BP4001') return explained
  throw explained
}

async function judge(parts: PushParts, updates: readonly RefUpdate[], report: PushReport | Failure, signal: AbortSignal): Promise<void> {
  if (!(report instanceof Failure) && report.unpacked === 'ok' && report.refused.size === 0) return
  const now = await parts.objects.advertise(signal).catch((thrown: unknown) => {
    throw report instanceof Failure ? report : thrown
  })
  const at = (update: RefUpdate) => seenAt(now, now, update)
  if (updates.every((update) => at(update) === update.to)) return
  const done = updates.filter((update) => update.from !== update.to && at(update) === update.to)
  const strangers = updates.filter((update) => at(update) !== update.from && !done.includes(update))
  if (strangers.length > 0) throw leaseLost(parts.remote, strangers, done)
  if (report instanceof Failure)
    throw done.length === 0 ? report : unreachable(parts.remote, `${report.why}; ${names('moved', done)}`, report)
  const better = await parts.explainRefusal(updates, signal)
  if (better !== undefined) throw better
  const reasons = updates.flatMap(({ ref }) => {
    const reason = report.refused.get(ref)
    return reason === undefined ? [] : [`${ref}: ${reason}`]
  })
  const text = [
    report.unpacked === 'ok' ? '' : report.unpacked,
    ...reasons,
    report.messages,
    done.length === 0 ? '' : names('moved all the same', done),
  ]
  throw refusedByRule(parts.remote, foreignLine(text.join('\n'), { secrets: parts.transport.secrets }))
}

function refusedByRule(remote: string, why: string): Failure {
  return new Failure({
    code: 'BP4002',
    what: 'the repository refused the push',
    where: remote,
    why,
    remedy: 'change the rule (branch protection, hook) for this account, or let somebody push who may',
    retry: 'on-change',
  })
}

function leaseLost(remote: string, moved: readonly RefUpdate[], done: readonly RefUpdate[]): Failure {
  return new Failure({
    code: 'BP4003',
    what: 'the branch moved between reading and pushing',
    where: remote,
    why: `${names('somebody else moved', moved)}${done.length === 0 ? '' : `; ${names('moved before that was seen', done)}`}`,
    remedy: 'read the repository again and repeat',
    retry: 'backoff',
  })
}

function names(verb: string, updates: readonly RefUpdate[]): string {
  return `${verb} ${updates.map(({ ref }) => ref).join(', ')}`
}
