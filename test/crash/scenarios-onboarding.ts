/** What `backporch init` proposes, and what becomes of it. */
import type { Failure } from '@backporch/kyaml/failure'
import { runOnboarding } from '../../src/reconcile/onboard/onboard.ts'
import { CONFIG, KPTFILE, TurnWorld, WEB } from '../fakes/turn-world.ts'
import type { Scenario } from './forge-killer.ts'
import { decide, quiet, signal, single, type World } from './forge-scenes.ts'

/** A repository without a policy; each turn is `backporch init`. */
function unconfigured(): World {
  const scene = single(new TurnWorld())
  const { world } = scene
  const policies = world.repository.paths('main').filter((path) => path.startsWith('.drift/'))
  world.repository.commitByHand('main', Object.fromEntries(policies.map((path) => [path, null])))
  world.edit(WEB, 'spec.replicas', 5)
  const turn = async (): Promise<readonly Failure[]> => {
    const request = {
      turn: world.request(),
      again: false,
      remove: false,
      confirm: async () => true,
    }
    await runOnboarding(world.ports, request, signal)
    return []
  }
  return { ...scene, turn }
}

export const ONBOARDING: readonly Scenario[] = [
  {
    name: 'init proposes',
    writes: ['push +drift/configure', 'open #1'],
    begin: async () => unconfigured(),
  },
  {
    name: 'the findings of init change',
    writes: ['push +drift/configure'],
    begin: async () => {
      const scene = await quiet(unconfigured())
      scene.repository.commitByHand('main', {
        'apps/gone/Kptfile': KPTFILE,
        'apps/gone/config.yaml': CONFIG.replaceAll('web', 'gone'),
      })
      return scene
    },
  },
  {
    name: 'a person edits the policy on the branch',
    writes: ['edit #1'],
    begin: async () => {
      const scene = await quiet(unconfigured())
      const text = scene.repository.text('drift/configure', '.drift/default.policy') ?? ''
      scene.repository.commitByHand('drift/configure', {
        '.drift/default.policy': text.replace('mode: Warn', 'mode: Propose'),
      })
      return scene
    },
  },
  {
    name: 'the init proposal is merged',
    writes: ['push -drift/configure'],
    begin: async () => {
      const scene = await quiet(unconfigured())
      scene.repository.branches.set('refs/heads/main', scene.repository.head('drift/configure'))
      decide(scene, 'merged', scene.world.cluster.now)
      return scene
    },
  },
  {
    name: 'the init proposal is closed',
    writes: ['push -drift/configure'],
    begin: async () => {
      const scene = await quiet(unconfigured())
      decide(scene, 'closed', scene.world.cluster.now)
      return scene
    },
  },
]
