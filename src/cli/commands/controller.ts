/** `controller`: the turn of `scan` until somebody stops it. */
import { TurnLoop } from '../../controller/turn-loop.ts'
import { Failure } from '../../failure.ts'
import type { ButtonPress } from '../../ports/check-run.ts'
import { ControllerTurns } from '../controller-turns.ts'
import { type ControllerOptions, isLoopback } from '../flags/controller-options.ts'
import type { World } from '../world.ts'

/** Milliseconds. */
const DEFAULT_INTERVAL = 60_000
const COALESCE = 500
/** Characters: fewer are found by trying, by whoever has seen one delivery. */
const SHORTEST_SECRET = 16
/** Shorter than the 30 s after which Kubernetes kills. */
const GRACE = 20_000

/** @returns 0 when it was stopped between or after turns, 130 when a turn had to be stopped: the next one repairs what it left */
export async function controller(packages: readonly string[], options: ControllerOptions, world: World): Promise<number> {
  const secrets = webhookSecrets(world.env['BACKPORCH_WEBHOOK_SECRET'])
  const address = options.webhookAddress
  if (address !== undefined && secrets.length === 0) throw withoutSecret()
  if (secrets.some((secret) => secret.length < SHORTEST_SECRET)) throw shortSecret()
  const unusable = new AbortController()
  const turns = new ControllerTurns(packages, options, world, () => unusable.abort())
  const interval = options.interval ?? DEFAULT_INTERVAL
  const { clock } = world
  const loop = new TurnLoop({ clock, random: Math.random, interval, coalesce: COALESCE, grace: GRACE, turn: turns.one })
  const onNews = (press?: ButtonPress): void => {
    if (press !== undefined) turns.presses.add(press)
    loop.request()
  }
  const webhooks =
    address === undefined
      ? undefined
      : await world.openWebhooks({ address, secrets, remote: options.repo, onNews, onRefused: turns.webhookRefused })
  let auditHook: Awaited<ReturnType<World['openAuditHook']>> | undefined
  try {
    auditHook = await openAuditHook(options, world, turns)
    turns.audit = auditHook?.source
    if (options.quiet !== true) {
      const hooks = webhooks === undefined ? '' : `, and when a webhook comes to ${webhooks.url}`
      if (auditHook !== undefined) world.stderr.write(`audit events are taken at ${auditHook.url}\n`)
      world.stderr.write(`a turn every ${interval / 1000}s${hooks}\n`)
    }
    const stop = AbortSignal.any([world.signal, unusable.signal])
    world.signal.addEventListener('abort', turns.stopping, { once: true })
    const end = await loop.run(stop)
    if (turns.unusable !== undefined) throw turns.unusable
    return end === 'aborted' ? 130 : 0
  } finally {
    world.signal.removeEventListener('abort', turns.stopping)
    await Promise.all([turns.close(), webhooks?.close(), auditHook?.close()])
  }
}

/** Several with commas between, while one is exchanged for another. A line break at the end is that of a file. */
function webhookSecrets(text: string | undefined): readonly string[] {
  return (text ?? '').split(',').flatMap((secret) => (secret.trim() === '' ? [] : [secret.trim()]))
}

function withoutSecret(): Failure {
  return new Failure({
    code: 'BP1001',
    what: '--webhook-address was given and there is no secret',
    why: 'without a secret anybody could ask for turns',
    remedy: 'set BACKPORCH_WEBHOOK_SECRET to what the webhook of the repository has (openssl rand -hex 32)',
  })
}

function shortSecret(): Failure {
  return new Failure({
    code: 'BP1001',
    what: 'the secret of the webhook is too short',
    why: `a secret in BACKPORCH_WEBHOOK_SECRET has fewer than ${SHORTEST_SECRET} characters, and can be found by trying`,
    remedy: 'give the webhook and BACKPORCH_WEBHOOK_SECRET a longer one (openssl rand -hex 32); several are separated by commas',
  })
}

/** @throws Failure BP1001 without a token where others than this machine could send */
async function openAuditHook(
  options: ControllerOptions,
  world: World,
  turns: ControllerTurns,
): Promise<Awaited<ReturnType<World['openAuditHook']>> | undefined> {
  const address = options.auditWebhookAddress
  if (address === undefined) return undefined
  const token = world.env['BACKPORCH_AUDIT_TOKEN']?.trim() || undefined
  if (token === undefined && !isLoopback(address)) {
    throw new Failure({
      code: 'BP1001',
      what: '--audit-webhook-address was given and there is no token',
      where: `${address.host}:${address.port}`,
      why: 'without a token anybody who reaches the address could say who wrote what',
      remedy: 'set BACKPORCH_AUDIT_TOKEN to the token of the kubeconfig that --audit-webhook-config-file names, or listen on 127.0.0.1',
    })
  }
  return world.openAuditHook({ address, token, named: (options.contexts ?? []).length > 1, onRefused: turns.auditRefused })
}
