/** One cause in several clusters: joint pull requests. */
import assert from 'node:assert/strict'
import type { Failure } from '@backporch/kyaml/failure'
import { FleetWorld } from '../fakes/fleet-world.ts'
import type { Scenario, Scene } from './forge-killer.ts'
import { branchOf, controllerTurn, quiet } from './forge-scenes.ts'

interface Fleet extends Scene {
  readonly world: FleetWorld
}

function fleet(count: number): Fleet {
  const world = new FleetWorld(count)
  const { repository, forge, clusters } = world
  forge.now = () => world.cluster(0).now
  forge.permissions.set('ada', 'write')
  const turn = (): Promise<readonly Failure[]> =>
    controllerTurn({ repository, forge, clusters }, world.request())
  return { world, repository, forge, turn, pass: (minutes) => world.pass(minutes) }
}

/** One pull request about three of four clusters. */
async function joined(): Promise<Fleet> {
  const scene = fleet(4)
  scene.world.edit([0, 1, 2])
  return quiet(scene)
}

export const JOINT: readonly Scenario[] = [
  {
    name: 'one cause in three clusters at once',
    writes: ['push +proposed/', 'open #1', 'open dashboard'],
    begin: async () => {
      const scene = fleet(4)
      scene.world.edit([0, 1, 2])
      return scene
    },
  },
  {
    name: 'two open proposals move into the joint one of a third cluster',
    writes: ['push ', 'comment #2 outcome'],
    begin: async () => {
      const scene = fleet(4)
      for (const index of [0, 1]) {
        scene.world.edit([index])
        await quiet(scene)
      }
      assert.equal(scene.forge.proposals.length, 2)
      scene.world.edit([2])
      return scene
    },
  },
  {
    name: 'a fourth cluster joins',
    writes: ['push ', 'edit #1'],
    begin: async () => {
      const scene = await joined()
      scene.world.edit([3])
      return scene
    },
  },
  {
    name: 'one of four clusters leaves',
    writes: ['push ', 'edit #1'],
    begin: async () => {
      const scene = fleet(4)
      scene.world.edit([0, 1, 2, 3])
      await quiet(scene)
      scene.world.sync([scene.world.cluster(0)])
      return scene
    },
  },
  {
    name: 'one of four clusters has other drift',
    writes: ['push ', 'edit #1', 'open #2'],
    begin: async () => {
      const scene = fleet(4)
      scene.world.edit([0, 1, 2, 3])
      await quiet(scene)
      scene.world.edit([1], 7)
      return scene
    },
  },
  {
    name: 'the drift of all clusters heals',
    writes: ['comment #1 outcome', 'push '],
    begin: async () => {
      const scene = await joined()
      scene.world.sync()
      return scene
    },
  },
  ...[false, true].map((isApplied) => ({
    name: `the joint proposal is merged${isApplied ? ', and applied' : ''}`,
    writes: ['push '],
    begin: async () => {
      const scene = await joined()
      scene.world.merge(branchOf(scene))
      if (isApplied) scene.world.sync()
      return scene
    },
  })),
  {
    name: 'the joint proposal is closed',
    writes: ['comment #1 outcome', 'push '],
    begin: async () => {
      const scene = await joined()
      scene.world.close(branchOf(scene))
      return scene
    },
  },
  {
    name: '/adopt on the joint proposal',
    writes: ['push ', 'comment #1 command', 'react 1 done', 'edit #1'],
    begin: async () => {
      const scene = await joined()
      scene.forge.comment(1, 'ada', '/adopt')
      return scene
    },
  },
]
