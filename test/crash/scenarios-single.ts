/** What happens to one package in one cluster: each scenario is a past that nobody disturbed, right before a turn. */
import { TurnWorld, WEB } from '../fakes/turn-world.ts'
import type { Scenario } from './forge-killer.ts'
import { branchOf, decide, merge, opened, quiet, single, tickDashboard } from './forge-scenes.ts'

export const SINGLE: readonly Scenario[] = [
  {
    name: 'drift is observed for the first time',
    writes: ['push +proposed/apps/web/drift-', 'open #1', 'status drift/fresh', 'open dashboard'],
    begin: async () => {
      const scene = single(new TurnWorld())
      scene.world.edit(WEB, 'spec.replicas', 5)
      return scene
    },
  },
  {
    name: 'drift changes',
    writes: ['push +proposed/', 'edit #1', 'status drift/fresh'],
    begin: async () => {
      const scene = await opened()
      scene.world.edit(WEB, 'spec.replicas', 6)
      return scene
    },
  },
  {
    name: 'the base branch moves',
    writes: ['push +proposed/', 'status drift/fresh'],
    begin: async () => {
      const scene = await opened()
      scene.repository.commitByHand('main', { 'apps/web/notes.txt': 'new' })
      return scene
    },
  },
  {
    name: 'the drift heals',
    writes: ['comment #1 outcome', 'push -proposed/', 'edit dashboard'],
    begin: async () => {
      const scene = await opened()
      scene.world.sync()
      return scene
    },
  },
  {
    name: 'git takes over the live value',
    writes: ['comment #1 outcome', 'push -proposed/'],
    begin: async () => {
      const scene = await opened()
      for (const path of ['apps/web/deployment.yaml', 'apps/web/config.yaml']) {
        const text = scene.repository.text('main', path) ?? ''
        scene.repository.commitByHand('main', {
          [path]: text.replace('replicas: 3', 'replicas: 5').replace('color: blue', 'color: red'),
        })
      }
      scene.world.sync()
      return scene
    },
  },
  ...[false, true].map((isDeleted) => ({
    name: `closed in the browser${isDeleted ? ', and the branch deleted' : ''}`,
    writes: ['comment #1 outcome', 'push ', 'edit dashboard'],
    begin: async () => {
      const scene = await opened()
      const ref = `refs/heads/${branchOf(scene)}`
      decide(scene, 'closed', scene.world.cluster.now)
      if (isDeleted) scene.repository.branches.delete(ref)
      return scene
    },
  })),
  {
    name: 'closed, and live changes again afterwards',
    writes: ['comment #1 outcome', 'push ', 'open #2'],
    begin: async () => {
      const scene = await opened()
      decide(scene, 'closed', scene.world.cluster.now)
      scene.world.edit(WEB, 'spec.replicas', 7)
      return scene
    },
  },
  {
    name: 'silenced, and its dashboard box is ticked',
    writes: ['push +proposed/', 'open #2', 'edit dashboard'],
    begin: async () => {
      const scene = await opened()
      decide(scene, 'closed', scene.world.cluster.now)
      await quiet(scene)
      tickDashboard(scene)
      return scene
    },
  },
  ...[false, true].map((isDeleted) => ({
    name: `merged by hand${isDeleted ? ', and the branch deleted' : ''}; the syncer has not applied it yet`,
    writes: ['push '],
    begin: async () => {
      const scene = await opened()
      await merge(scene, isDeleted)
      return scene
    },
  })),
  {
    name: 'merged, and applied before the next observation',
    writes: ['push '],
    begin: async () => {
      const scene = await opened()
      await merge(scene)
      scene.world.sync()
      return scene
    },
  },
  {
    name: 'merged and recorded, and applied afterwards',
    writes: ['push '],
    begin: async () => {
      const scene = await opened()
      await merge(scene, true)
      await quiet(scene)
      scene.world.sync()
      return scene
    },
  },
  {
    name: 'merged, and never applied',
    writes: ['status drift/restored failure', 'comment #1 outcome', 'push ', 'open #2'],
    begin: async () => {
      const scene = await opened()
      await merge(scene, true)
      await quiet(scene)
      scene.pass(60)
      return scene
    },
  },
  {
    name: 'restored, and the same drift returns',
    writes: ['push +proposed/', 'open #2'],
    begin: async () => {
      const scene = await opened()
      await merge(scene, true)
      scene.world.sync()
      await quiet(scene)
      scene.world.edit(WEB, 'spec.replicas', 5)
      return scene
    },
  },
  {
    name: 'a person commits to the branch, and live changes',
    writes: ['push +drift-ledger'],
    begin: async () => {
      const scene = await opened()
      scene.repository.commitByHand(branchOf(scene), { 'apps/web/NOTES.md': 'mine' })
      scene.world.edit(WEB, 'spec.replicas', 9)
      return scene
    },
  },
]
