/** Pasts that nobody disturbed, up to right before a turn: what scenarios begin with. */
import assert from 'node:assert/strict'
import type { Failure } from '@backporch/kyaml/failure'
import type { FleetPorts, TurnRequest } from '../../src/reconcile/observe/turn-request.ts'
import { NO_REQUESTED_ACTIONS } from '../../src/reconcile/turn/requests/observe-requests.ts'
import { runFleetTurn } from '../../src/reconcile/turn/run-turn.ts'
import { MemoryForge } from '../fakes/memory-forge.ts'
import { mergeByHand, TurnWorld, WEB, WEB_CONFIG } from '../fakes/turn-world.ts'
import { runToQuiet, type Scene } from './forge-killer.ts'

export const signal = new AbortController().signal

export interface World extends Scene {
  readonly world: TurnWorld
}

/** One cluster. The package is `apps/web`, with a Deployment and a ConfigMap. */
export function single(world: TurnWorld): World {
  const forge = new MemoryForge(world.repository)
  forge.now = () => world.cluster.now
  forge.permissions.set('ada', 'write')
  world.forge = forge
  const turn = (): Promise<readonly Failure[]> =>
    controllerTurn({ ...world.ports, clusters: [world.cluster] }, world.request())
  return {
    world,
    forge,
    repository: world.repository,
    turn,
    pass: (minutes) => world.pass(minutes),
  }
}

export async function controllerTurn(
  ports: FleetPorts,
  request: TurnRequest,
): Promise<readonly Failure[]> {
  const { units, notObserved, reported, answers } = await runFleetTurn(
    ports,
    { ...request, forge: { ...request.forge, requestedActions: NO_REQUESTED_ACTIONS } },
    signal,
  )
  const ofUnits = units.flatMap((unit) =>
    unit.state === 'failed' ? unit.failures : (unit.refused ?? []),
  )
  return [
    ...ofUnits,
    ...notObserved.flatMap(({ failures }) => failures),
    ...reported,
    ...answers.flatMap(({ failure }) => failure ?? []),
  ]
}

/** Replicas and a color were changed by hand, and the pull request is open. */
export async function opened(policy = '{mode: Propose}'): Promise<World> {
  const scene = single(new TurnWorld(policy))
  scene.world.edit(WEB, 'spec.replicas', 5)
  scene.world.edit(WEB_CONFIG, 'data.color', 'red')
  return quiet(scene)
}

export async function quiet<Quiet extends Scene>(scene: Quiet): Promise<Quiet> {
  scene.pass(1)
  await runToQuiet(scene)
  return scene
}

export function branchOf({ forge }: Scene): string {
  return (
    forge.proposals.findLast(({ state }) => state === 'open')?.ref.replace('refs/heads/', '') ?? ''
  )
}

/** A person decides in the browser about the last open pull request. */
export function decide(scene: Scene, state: 'merged' | 'closed', now: string): void {
  const proposal = scene.forge.proposals.findLast((each) => each.state === 'open')
  assert.ok(proposal !== undefined)
  scene.forge.byHand(proposal.number, { state, decidedBy: 'grace', decidedAt: now })
}

export async function merge(scene: World, isDeleted = false): Promise<void> {
  const branch = branchOf(scene)
  await mergeByHand(scene.world, branch)
  decide(scene, 'merged', scene.world.cluster.now)
  if (isDeleted) scene.repository.branches.delete(`refs/heads/${branch}`)
}

export async function requested(body: string): Promise<Scene> {
  const scene = await opened()
  scene.forge.comment(1, 'ada', body)
  return scene
}

export function ticked(scene: Scene, box: RegExp): void {
  const body = scene.forge.proposals[0]?.body ?? ''
  const line = body.split('\n').find((each) => box.test(each))
  assert.ok(line !== undefined, body)
  scene.forge.byHand(1, { body: body.replace(line, line.replace('- [ ]', '- [x]')) })
}

export function tickDashboard({ forge }: Scene): void {
  const issue = forge.issues.get('dashboard')
  assert.ok(issue !== undefined && /- \[ \] /.test(issue.body))
  forge.issues.set('dashboard', { ...issue, body: issue.body.replaceAll('- [ ] ', '- [x] ') })
}
