/** Somebody merges or closes while a turn is at work: nothing of it is lost, and nothing is taken for decided that nobody saw. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { opened, quiet, single } from '../crash/forge-scenes.ts'
import { TurnWorld, WEB, WEB_CONFIG } from '../fakes/turn-world.ts'
import { type Race, sweep } from './race-sweep.ts'

const SETTLES = '{mode: Propose, settle: backporch}'
const IMAGE = 'spec.template.spec.containers[name=app].image'

/** Replicas were changed by hand, and the pull request is open. */
async function requested() {
  const scene = single(new TurnWorld(SETTLES))
  scene.world.edit(WEB, 'spec.replicas', 5)
  return quiet(scene)
}

const RACES: readonly Race[] = [
  {
    name: 'drift is observed for the first time',
    begin: async () => {
      const scene = single(new TurnWorld(SETTLES))
      scene.world.edit(WEB, 'spec.replicas', 5)
      return scene
    },
  },
  {
    name: 'another field of the same object is edited: a critical image',
    begin: async () => {
      const scene = await requested()
      scene.world.edit(WEB, IMAGE, 'evil.example/nginx:1')
      return scene
    },
  },
  {
    name: 'another object is edited',
    begin: async () => {
      const scene = await requested()
      scene.world.edit(WEB_CONFIG, 'data.color', 'red')
      return scene
    },
  },
  {
    name: 'the same field is edited again',
    begin: async () => {
      const scene = await requested()
      scene.world.edit(WEB, 'spec.replicas', 9)
      return scene
    },
  },
  {
    name: 'one of two changes heals',
    begin: async () => {
      const scene = await opened(SETTLES)
      scene.world.edit(WEB_CONFIG, 'data.color', 'blue')
      return scene
    },
  },
  {
    name: 'the base branch moves: the branch is rebuilt with the same record',
    begin: async () => {
      const scene = await requested()
      scene.repository.commitByHand('main', { 'apps/web/notes.txt': 'new' })
      return scene
    },
  },
  {
    name: 'the drift heals: the proposal is withdrawn',
    begin: async () => {
      const scene = await requested()
      scene.world.sync()
      return scene
    },
  },
  {
    name: '/adopt in a comment: the plan changes',
    begin: async () => {
      const scene = await requested()
      scene.forge.comment(1, 'ada', '/adopt')
      return scene
    },
  },
]

describe('a decision at any moment of a turn', () => {
  for (const race of RACES) {
    test(race.name, async (t) => {
      const { tried, wrong } = await sweep(race)
      t.diagnostic(`${tried} decisions`)
      assert.ok(tried > 4, `${tried} decisions`)
      assert.equal(
        wrong.length,
        0,
        `${wrong.length} of ${tried} end wrong:\n${wrong.slice(0, 6).join('\n\n')}`,
      )
    })
  }
})
