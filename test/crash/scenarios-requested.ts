/** What people ask for on a pull request, in comments, boxes and pull requests about the policy. */
import assert from 'node:assert/strict'
import { mergeByHand, TurnWorld, WEB } from '../fakes/turn-world.ts'
import type { Scenario } from './forge-killer.ts'
import { branchOf, opened, quiet, requested, single, ticked } from './forge-scenes.ts'

export const REQUESTED: readonly Scenario[] = [
  {
    name: '/adopt',
    writes: ['react 1 seen', 'push +proposed/', 'comment #1 command', 'react 1 done', 'edit #1'],
    begin: () => requested('/adopt'),
  },
  {
    name: '/adopt 1 of several changes',
    writes: ['push +proposed/', 'react 1 done', 'edit #1'],
    begin: () => requested('/adopt 1 -- peak season'),
  },
  {
    name: '/snooze',
    writes: ['push +drift-ledger', 'comment #1 command', 'react 1 done', 'edit #1'],
    begin: () => requested('/snooze 7d'),
  },
  {
    name: '/ignore',
    writes: ['push +drift/ignore-', 'open #2', 'comment #1 command', 'react 1 done'],
    begin: () => requested('/ignore 1 --for 30d -- KEDA'),
  },
  {
    name: 'a refused command',
    writes: ['comment #1 command', 'react 1 refused'],
    begin: () => requested('/adopt 9'),
  },
  {
    name: '/recreate',
    writes: ['push +proposed/', 'comment #1 command', 'react 1 done'],
    begin: async () => {
      const scene = await opened()
      scene.repository.commitByHand(branchOf(scene), { 'apps/web/NOTES.md': 'mine' })
      await quiet(scene)
      scene.forge.comment(1, 'ada', '/recreate')
      return scene
    },
  },
  {
    name: 'commands of two people, one without rights',
    writes: ['react 1 done', 'react 2 refused'],
    begin: async () => {
      const scene = await requested('/adopt 1')
      scene.forge.comment(1, 'eve', '/adopt 2')
      return scene
    },
  },
  {
    name: 'a person ticks a box of the body',
    writes: ['push +proposed/', 'edit #1'],
    begin: async () => {
      const scene = await opened()
      ticked(scene, /- \[ \] .*adopt/i)
      return scene
    },
  },
  {
    name: 'the ignore pull request is merged',
    writes: ['push -drift/ignore-', 'push '],
    begin: async () => {
      const scene = await quiet(single(new TurnWorld()))
      scene.world.edit(WEB, 'spec.replicas', 5)
      await quiet(scene)
      scene.forge.comment(1, 'ada', '/ignore 1 -- an autoscaler has it')
      await quiet(scene)
      const ignore = scene.forge.proposals[1]
      assert.ok(ignore !== undefined)
      await mergeByHand(scene.world, ignore.ref.replace('refs/heads/', ''))
      scene.forge.byHand(2, {
        state: 'merged',
        decidedBy: 'grace',
        decidedAt: scene.world.cluster.now,
      })
      return scene
    },
  },
  {
    name: 'the ignore pull request is closed',
    writes: ['push -drift/ignore-'],
    begin: async () => {
      const scene = await quiet(await requested('/ignore 1 -- an autoscaler has it'))
      scene.forge.byHand(2, {
        state: 'closed',
        decidedBy: 'grace',
        decidedAt: '2026-11-21T10:05:00Z',
      })
      return scene
    },
  },
]
