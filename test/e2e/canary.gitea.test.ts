/**
 * After every command in every format, on a real API server with a real Gitea and beside a controller, no form of a
 * secret is in any output, object of git, text of the forge, cache or log. Their values are drawn from the seeds.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { formatDocument } from '../../src/record/write-document.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import type { Gitea } from '../gitea/gitea.ts'
import { sharedGitea } from '../gitea/shared-gitea.ts'
import { type CredentialForm, formsInUse, mustHideForms } from '../hostile/credential-forms.ts'
import { heldOutForms, laterForms } from '../hostile/held-out-forms.ts'
import { batchedForms, type FormObject } from '../hostile/placed-forms.ts'
import { testEachSeed } from '../seeds/seeds.ts'
import { CANARY_KINDS, definitions, quotedByTheServer } from './canary-kinds.ts'
import { CanarySearch } from './canary-search.ts'
import {
  assertEveryCommand,
  assertTold,
  authoredIds,
  besideAController,
  collect,
  every,
  once,
  runSteps,
  type Step,
  share,
} from './canary-sweep.ts'
import { kptfile, policy } from './packages.ts'
import { openReviewWorld, type ReviewWorld } from './review-world.ts'

/** Forms that no server stores; test/hostile/credential-forms.test.ts has them. */
const NOT_STORED = new Set([
  'data of a Secret that is no base64',
  'a field of a Secret that nobody knows',
])
/** Forms that are told: the guide names them. That they are found shows that the search finds. */
const TOLD = ['chap-secrets (pppd(8))']

/** Stands for the namespace of the packages whose secrets are in the cluster. */
const LIVE = '{live}'

/** Takes the secrets of the packages out of git, whose secrets are gone from the cluster. */
const HEAD = 'change'

const BEFORE: readonly Step[] = [
  every('diff', '--show-ignored', '--debug', '--verbose'),
  once('diff', '--yaml', '--unmanaged', '--debug'),
  every('check', '--debug'),
  once('rbac', '--level', 'settle', '--debug'),
  once('render'),
  // With -o it gives manifests of git as they are, to be applied: packages without secrets in git.
  once('render', 'apps/live-0', '-o', 'unwrap'),
  once('render', 'apps/live-2', '-o', 'resourcelist'),
  every('init', '--dry-run', '--debug'),
  once('import', '--namespace', LIVE, '--dry-run', '--debug'),
  every('preview', '--head', HEAD, '--debug'),
  ...['apps/live-0', 'apps/live-3', 'apps/git-0', 'apps/git-5'].map((unit) =>
    once('explain', unit, '--debug'),
  ),
  share(1, 3, 'scan', '--debug', '--verbose'),
]
const AFTER: readonly Step[] = [
  ...['status', 'get packages', 'get drifts'].map((command) => every(command)),
  every('ignore', '--list'),
  every('report', '--since', '7d'),
  share(0, 3, 'adopt', 'apps/live-0', '--dry-run', '--debug'),
  share(1, 3, 'release', 'apps/live-1', '--dry-run', '--debug'),
  share(2, 3, 'restore', 'apps/git-0', '--dry-run', '--debug'),
  once('adopt', 'apps/live-0', '--debug', '-m', 'why'),
  once('adopt', 'apps/live-2', '--debug', '-m', 'why'),
  once('adopt', 'apps/git-1', '--debug', '-m', 'why'),
  once('release', 'apps/git-2', '--debug', '-m', 'why'),
  once('restore', 'apps/live-0', '--debug'),
  ...['--print', '--dry-run', '--debug'].map((flag) =>
    once('ignore', 'apps/live-1', '1', '-m', 'why', flag),
  ),
  once('approve', 'apps/live-0', '--yes', '--debug'),
  once('reject', 'apps/git-0', '--yes', '--debug', '-m', 'why'),
  once('scan', '--debug'),
  every('history', '--debug'),
  once('completion', 'bash'),
  once('version'),
]

const gitea = await sharedGitea()
if (gitea.state === 'unavailable') test('the canary sweep', { skip: gitea.why }, () => {})
else await controlPlaneSuite('the canary sweep', {}, (plane) => sweepOn(plane, gitea))

function sweepOn(plane: ControlPlane, server: Gitea): void {
  testEachSeed(
    import.meta.filename,
    'no output shows any form of a secret',
    {},
    async (t, seed) => {
      const canaries = new Map<string, readonly string[]>()
      const drawn: Drawn = { seed: String(seed), told: `told-${seed}-plainly`, canaries }
      const review = await openSweep(t, plane, server, drawn)
      const { world } = review
      assertEveryCommand([...BEFORE, ...AFTER])
      const live =
        /namespace: "?([\w-]+)/.exec(world.read('apps/live-0/left.yaml'))?.[1] ??
        assert.fail('no namespace')
      const run = (steps: readonly Step[]): Promise<void> =>
        runSteps(
          review,
          steps.map((step) => ({ ...step, args: step.args.map((arg) => arg.replace(LIVE, live)) })),
        )
      await run(BEFORE)
      // So much at once is a storm, which is told of in an issue and not proposed. Packages are small, because a pull request lists 30 changes.
      await review.commit(policy(`${POLICY}, stormObjects: 0}`), 'no storm')
      await run([once('scan', '--debug')])
      const proposed = (await review.pulls()).length
      assert.ok(proposed > PACKAGES, `${proposed} packages are proposed`)
      const log = await besideAController(t, review, { ...drawn, head: HEAD })
      await run(AFTER)

      const locations = await collect(review, {
        authored: await authoredIds(review, / apps\/git-\d+\/\d+\.yaml$/),
        controller: log,
        isLeftOut: (path) => path.startsWith(join(world.checkout, 'apps/git-')),
      })
      assertTold(locations, drawn.told)
      assert.ok(
        locations['outputs']?.some(({ content }) => /BP3011|refused/.test(content.toString())),
        'the server has refused something',
      )
      const leaks = new CanarySearch(canaries).find(Object.values(locations).flat())
      assert.deepEqual(
        [...leaks]
          .filter(([name]) => !TOLD.includes(name))
          .map(([name, where]) => `${name}: ${where.slice(0, 5).join(', ')} (${where.length})`),
        [],
      )
      assert.deepEqual([...leaks.keys()].sort(), [...TOLD].sort(), 'the guide names what is told')
      t.diagnostic(
        `${canaries.size} forms, ${proposed} pull requests, ${world.calls.length} calls, ${Object.values(locations).flat().length} places`,
      )
    },
  )
}

interface Drawn {
  readonly seed: string
  /** A value that is no secret. */
  readonly told: string
  readonly canaries: Map<string, readonly string[]>
}

const POLICY =
  'mode: Propose\nsettle: backporch\ndetect: {minAge: 0s, settle: 0s}\nlimits: {prHourlyLimit: 0, prConcurrentLimit: 0'
const PACKAGES = 7

/** In half of the packages the secrets are in the cluster alone; in the others they were in git, and are gone from the cluster. */
async function openSweep(
  t: TestContext,
  plane: ControlPlane,
  server: Gitea,
  { seed, told, canaries }: Drawn,
): Promise<ReviewWorld> {
  const [live, git] = [await plane.namespace('canary-live'), await plane.namespace('canary-git')]
  const formsOf = (text: string): readonly CredentialForm[] =>
    [
      ...mustHideForms(text),
      ...formsInUse(text),
      ...heldOutForms(text),
      ...laterForms(text),
    ].filter(({ name }) => !NOT_STORED.has(name))
  const [inLive, inGit] = [formsOf(seed), formsOf(`git ${seed}`)]
  for (const { name, needles } of inLive) canaries.set(name, needles)
  // `render` asks no cluster, and no schema: what only a schema calls a password is told of git, where everybody reads it.
  for (const { name, needles, passwords } of inGit)
    if (!TOLD.includes(name) && passwords === undefined) canaries.set(`${name}, in git`, needles)
  const quoted = quotedByTheServer(git, seed)
  for (const [name, needle] of quoted.needles) canaries.set(name, [needle])
  const reported: FormObject = {
    plain: reportedIn(live, 'grey'),
    withSecrets: reportedIn(live, told),
  }
  const files: Record<string, string> = {}
  const edited: JsonObject[] = []
  const change: Record<string, string> = {}
  const size = Math.ceil(inLive.length / PACKAGES)
  for (let at = 0; at < PACKAGES; at += 1) {
    const part = (forms: readonly CredentialForm[]): readonly CredentialForm[] =>
      forms.slice(at * size, (at + 1) * size)
    const [changed, gone] = [
      batchedForms(part(inLive), live, `of-${at}`),
      batchedForms(part(inGit), git, `of-${at}`),
    ]
    const withReported = at === 0 ? [...changed, reported] : changed
    const inGitOnly = [
      ...gone.map(({ withSecrets }) => withSecrets),
      ...(at === 0 ? quoted.inGit : []),
    ]
    for (const [folder, objects] of [
      [`apps/live-${at}`, withReported.map(({ plain }) => plain)],
      [`apps/git-${at}`, inGitOnly],
    ] as const) {
      files[`${folder}/Kptfile`] = kptfile(folder.slice('apps/'.length))
      // Nobody changes it: it shows that the syncer applied the package.
      files[`${folder}/left.yaml`] = formatDocument(
        leftAlone(folder.includes('live') ? live : git, at),
      )
      for (const [index, object] of objects.entries())
        files[`${folder}/${index}.yaml`] = formatDocument(object)
    }
    for (const [index, { plain }] of gone.entries())
      change[`apps/git-${at}/${index}.yaml`] = formatDocument(plain)
    edited.push(
      ...withReported.map(({ withSecrets }) => withSecrets),
      ...gone.map(({ plain }) => plain),
    )
  }
  const review = await openReviewWorld(t, plane, server, { ...files, ...policy(`${POLICY}}`) })
  const { world } = review
  await world.pipe(
    formatDocument({ apiVersion: 'v1', kind: 'List', items: definitions() }),
    'apply',
    '--server-side',
    '--force-conflicts',
    '-f',
    '-',
  )
  const names = CANARY_KINDS.map(({ plural, group }) => `crd/${plural}.${group}`)
  await world.kubectl('wait', '--for=condition=Established', '--timeout=4m', ...names)
  await review.observe()
  await world.sync('apps')
  await quoted.afterSync(world)
  await world.git('checkout', '--quiet', '-b', HEAD)
  for (const [path, content] of Object.entries(change)) world.write(path, content)
  await world.git('commit', '--quiet', '--all', '--message', 'without secrets')
  await world.git('push', '--quiet', 'origin', HEAD)
  await review.git('push', '--quiet', review.address, HEAD)
  await world.git('checkout', '--quiet', 'main')
  const text = edited.map((object) => formatDocument(object)).join('---\n')
  await world.pipe(text, 'replace', '--field-manager=hand', '-f', '-')
  return review
}

function leftAlone(namespace: string, at: number): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `left-${at}`, namespace },
    data: { size: '1' },
  }
}

function reportedIn(namespace: string, hue: string): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'told', namespace },
    data: { hue },
  }
}
