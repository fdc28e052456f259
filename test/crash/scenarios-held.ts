/** What limits, windows, storms and waiting changes hold back, and what follows of it. */
import { policyText, TurnWorld } from '../fakes/turn-world.ts'
import type { Scenario } from './forge-killer.ts'
import { controllerTurn, quiet, single, tickDashboard, type World } from './forge-scenes.ts'

const NOW = 'detect: {minAge: 0s, settle: 0s}'

/** Packages `a`, `b`, … with a ConfigMap each; the first `drifted` of them were changed. */
function many(names: string, policy: string, drifted: string): World {
  const files: Record<string, string> = {
    'apps/web/Kptfile': '',
    '.drift/policy.yaml': policyText(policy),
    '.drift/at-once.yaml': '',
  }
  for (const name of names) {
    files[`apps/${name}/Kptfile`] =
      `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: ${name}}\n`
    files[`apps/${name}/config.yaml`] =
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: shop}\ndata: {color: blue}\n`
  }
  const world = new TurnWorld('{}', files)
  world.packages = [...names].map((name) => `apps/${name}`)
  const scene = single(world)
  for (const name of drifted) world.edit(`/ConfigMap/shop/${name}`, 'data.color', 'red')
  return scene
}

/** More than one push moves, with nothing that limits them. Time stands still: how many turns it takes is not compared. */
function atOnce(isHurried: boolean): World {
  const limits =
    'limits: {prHourlyLimit: 0, prConcurrentLimit: 0, stormThreshold: 0, stormShare: 0, digest: off}'
  const scene = many('abcdefg', `{mode: Propose, ${NOW}, ${limits}}`, 'abcdefg')
  const { world } = scene
  const always = (): boolean => true
  const request = isHurried ? { meanwhile: { hasChanged: always, shouldGiveWay: always } } : {}
  const turn = () =>
    controllerTurn({ ...world.ports, clusters: [world.cluster] }, world.request(request))
  return { ...scene, turn, pass: () => undefined }
}

export const HELD: readonly Scenario[] = [
  {
    name: 'more drift than the hour allows',
    writes: ['push ', 'open #1', 'open #2', 'open dashboard'],
    begin: async () => many('abcde', `{mode: Propose, ${NOW}}`, 'abcde'),
  },
  {
    name: 'the next proposals an hour later',
    writes: ['push ', 'open #3', 'open #4', 'edit dashboard'],
    begin: async () => {
      const scene = await quiet(many('abcde', `{mode: Propose, ${NOW}}`, 'abcde'))
      scene.pass(60)
      return scene
    },
  },
  {
    name: 'a closed proposal makes room for another',
    writes: ['comment #1 outcome', 'open #3'],
    begin: async () => {
      const limits = 'limits: {prHourlyLimit: 0, prConcurrentLimit: 2}'
      const scene = await quiet(many('abc', `{mode: Propose, ${NOW}, ${limits}}`, 'abc'))
      scene.forge.byHand(1, {
        state: 'closed',
        decidedBy: 'grace',
        decidedAt: scene.world.cluster.now,
      })
      return scene
    },
  },
  {
    name: 'drift that must settle',
    writes: ['push +drafts/apps/a/drift-', 'open dashboard'],
    begin: async () => many('a', '{mode: Propose, detect: {minAge: 90m}}', 'a'),
  },
  {
    name: 'drift that has settled',
    writes: ['push +proposed/', 'open #1', 'edit dashboard'],
    begin: async () => {
      const scene = await quiet(many('a', '{mode: Propose, detect: {minAge: 90m}}', 'a'))
      scene.pass(60)
      return scene
    },
  },
  {
    name: 'a deleted object without a time of deletion has settled',
    writes: ['push +proposed/', 'open #1'],
    begin: async () => {
      const scene = many('a', '{mode: Propose}', '')
      scene.world.cluster.objects.delete('/ConfigMap/shop/a')
      await quiet(scene)
      scene.pass(2)
      return scene
    },
  },
  {
    name: 'a window holds a proposal, and a ticked box opens it',
    writes: ['push ', 'open #1', 'edit dashboard'],
    begin: async () => {
      const window = 'windows: [{name: freeze, kind: hold, schedule: "0 9 * * *", duration: 20h}]'
      const scene = await quiet(many('ab', `{mode: Propose, ${NOW}, ${window}}`, 'ab'))
      tickDashboard(scene)
      return scene
    },
  },
  {
    name: 'a storm begins',
    writes: ['push ', 'open storm', 'open dashboard'],
    begin: async () => many('abcd', `{mode: Propose, ${NOW}, limits: {stormThreshold: 3}}`, 'abcd'),
  },
  {
    name: 'a storm ends',
    writes: ['close storm', 'push ', 'open #1'],
    begin: async () => {
      const scene = await quiet(
        many('abcd', `{mode: Propose, ${NOW}, limits: {stormThreshold: 3}}`, 'abcd'),
      )
      scene.pass(60)
      return scene
    },
  },
  {
    name: 'many packages at once: the ledger is pushed first',
    writes: ['push +drift-ledger', 'push +proposed/', 'open #1', 'open #7'],
    begin: async () => atOnce(false),
  },
  {
    name: 'many packages at once with a change after each write: the rest waits for the next turns',
    writes: ['push +drift-ledger', 'push +proposed/', 'open #1', 'open #7'],
    begin: async () => atOnce(true),
  },
]
