/** An open proposal on a forge in memory, with people who comment on it. */
import assert from 'node:assert/strict'
import type { Answer } from '../../src/reconcile/turn/apply/apply-answers.ts'
import { NO_REQUESTED_ACTIONS } from '../../src/reconcile/turn/requests/observe-requests.ts'
import { runFleetTurn } from '../../src/reconcile/turn/run-turn.ts'
import type { DriftRecord } from '../../src/record/documents/drift-record.ts'
import { MemoryForge } from './memory-forge.ts'
import type { TestRequest } from './turn-request.ts'
import { TurnWorld, WEB, WEB_CONFIG } from './turn-world.ts'

export const signal = new AbortController().signal

export interface Scene {
  readonly world: TurnWorld
  readonly forge: MemoryForge
  readonly ref: string
}

/** An open proposal #1: 1 is `data.color` of a ConfigMap, 2 `spec.replicas` of a Deployment, as the record lists them. */
export async function opened(
  files: { readonly [path: string]: string } = {},
  policy = '{mode: Propose}',
): Promise<Scene> {
  const world = new TurnWorld(policy, files)
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  forge.permissions.set('ada', 'write')
  world.edit(WEB, 'spec.replicas', 5)
  world.edit(WEB_CONFIG, 'data.color', 'red')
  const { record } = await world.plan()
  assert.deepEqual(
    record?.spec.changes.map(({ path }) => path),
    ['data.color', 'spec.replicas'],
  )
  forge.writes.length = 0
  return { world, forge, ref: forge.proposals[0]?.ref ?? '' }
}

export async function answer({ world }: Scene, more: TestRequest = {}): Promise<readonly Answer[]> {
  world.pass(1)
  const fleet = { ...world.ports, clusters: [world.cluster] }
  return (
    await runFleetTurn(
      fleet,
      world.request({ requestedActions: NO_REQUESTED_ACTIONS, ...more }),
      signal,
    )
  ).answers
}

/** `ada` writes, and it is answered. */
export async function ask(
  scene: Scene,
  body: string,
): Promise<{ outcome: string | undefined; text: string }> {
  scene.forge.comment(1, 'ada', body)
  const [last] = (await answer(scene)).slice(-1)
  return { outcome: last?.outcome, text: message(scene) }
}

export function message({ forge }: Scene): string {
  return forge.comments.find(({ topic }) => topic === 'command')?.body ?? ''
}

export async function record({ world, forge }: Scene): Promise<DriftRecord['spec']> {
  const { record } = await world.plan({ dryRun: true })
  assert.ok(record !== undefined && forge.proposals.length > 0)
  return record.spec
}

export async function resolutions(scene: Scene): Promise<string[]> {
  return (await record(scene)).changes.map(({ resolution }) => resolution)
}

export function reactions({ forge }: Scene): (string | undefined)[] {
  return forge.conversation.map(({ reaction }) => reaction)
}

/** Somebody ticks the first box whose line matches. */
export async function tick(scene: Scene, box: RegExp): Promise<void> {
  const [proposal] = scene.forge.proposals
  const body = proposal?.body ?? ''
  const line = body.split('\n').find((each) => box.test(each))
  assert.ok(line !== undefined, body)
  scene.forge.byHand(1, { body: body.replace(line, line.replace('- [ ]', '- [x]')) })
}
