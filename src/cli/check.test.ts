/** `check` over the world in memory: what its probes find is what it says. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Finding } from '@backporch/kyaml/note'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { policyText, TurnWorld, yaml } from '../../test/fakes/turn-world.ts'
import type { Probes } from '../ports/probes.ts'

function probes(more: Partial<Probes> = {}): Probes {
  return {
    push: async (_remote, _base, refs) =>
      refs.map((ref) => ({ ref, answer: 'let-through', why: '' })),
    forge: async () => [],
    access: async () => ({ rules: [], incomplete: false, serverTime: undefined }),
    keySource: async () => ({ from: 'environment', path: '/key' }),
    signingKey: async () => undefined,
    hasGitIdentity: async () => true,
    ...more,
  }
}

function check(more: Partial<Probes>, ...args: readonly string[]) {
  return runInWorld(new TurnWorld(), ['check', '--repo', 'deploy', '--live', 'live', ...args], {
    probes: async () => probes(more),
  })
}

const MISSING: Finding = {
  check: 'forge',
  state: 'failed',
  code: 'BP5003',
  message: 'nobody let us in',
  fix: 'do',
}

test('before the installation a missing grant is a warning; other forge failures remain', async () => {
  const refused = await check({ forge: async () => [MISSING] })
  assert.deepEqual(
    [refused.code, /^✗ BP5003 nobody let us in$/m.test(refused.stdout)],
    [1, true],
    refused.stdout,
  )
  const before = await check({ forge: async () => [MISSING] }, '--pre')
  assert.deepEqual(
    [before.code, /^! BP5003 nobody let us in$/m.test(before.stdout)],
    [0, true],
    before.stdout,
  )
  assert.equal(
    (await check({ forge: async () => [{ ...MISSING, code: 'BP5001' }] }, '--pre')).code,
    1,
  )
})

test('a push with an unclear answer is unknown and fails nothing', async () => {
  const run = await check({
    push: async (_remote, _base, refs) =>
      refs.map((ref) => ({ ref, answer: 'unclear', why: 'the server hung up' })),
  })
  assert.equal(run.code, 0, run.stdout)
  assert.match(
    run.stdout,
    /^\? git: cannot tell whether the server accepts a push to drafts\/\*\*: the server hung up$/m,
  )
})

test('the operator policy is checked together with the repository policy', async () => {
  const text = policyText('{enforce: true, ignore: [{target: {kind: Job}, reason: r}]}').replace(
    'name: test',
    'name: enforced',
  )
  const readPolicyFiles = () => [{ path: 'operator.yaml', text }]
  const world = new TurnWorld('{mode: Propose}')
  const run = (more: string[]) =>
    runInWorld(world, ['check', '--repo', 'deploy', '--live', 'live', ...more], {
      probes: async () => probes(),
      readPolicyFiles,
    })
  assert.match((await run([])).stdout, /^✓ policy: 2 valid, 0 ignore rules$/m)
  const { stdout } = await run(['--operator-policy', 'operator.yaml'])
  assert.match(stdout, /^✓ policy: 3 valid, 1 ignore rule$/m)
  assert.match(stdout, /^! policy: the ignore rule at operator\.yaml:\d+ never ends$/m)
})

test('a repository whose syncers name its units has no warning about missing packages', async () => {
  const world = new TurnWorld('{mode: Propose}', {
    'deploy/web.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n',
  })
  world.repository.commitByHand('main', { 'apps/web/Kptfile': null })
  const run = () =>
    runInWorld(world, ['check', '--repo', 'deploy', '--live', 'live'], {
      probes: async () => probes(),
    })
  assert.match(
    (await run()).stdout,
    /^! BP1004 packages: no folder of the base branch has a Kptfile$/m,
  )
  const source = (kind: string, group: string, spec: string) =>
    yaml(
      `apiVersion: ${group}.toolkit.fluxcd.io/v1\nkind: ${kind}\nmetadata: {name: web, namespace: flux-system}\nspec: ${spec}\n`,
    )
  world.cluster.put(
    source('GitRepository', 'source', '{ref: {branch: main}, url: "ssh://git@/deploy"}'),
  )
  world.cluster.put(
    source(
      'Kustomization',
      'kustomize',
      '{sourceRef: {kind: GitRepository, name: web}, path: ./deploy}',
    ),
  )
  const { stdout } = await run()
  assert.match(
    stdout,
    /^✓ packages: no folder has a Kptfile, and syncers of the cluster name 1 unit$/m,
  )
  assert.doesNotMatch(stdout, /BP1004/)
})

test("rights are checked in the package namespaces, and in the context's only if used", async () => {
  const asked = async (files: Readonly<Record<string, string>>) => {
    const namespaces: string[] = []
    const access: Probes['access'] = async (_, namespace) => {
      namespaces.push(namespace)
      return { rules: [], incomplete: false, serverTime: undefined }
    }
    const world = new TurnWorld('{mode: Propose}', files)
    const { stdout } = await runInWorld(world, ['check', '--repo', 'deploy'], {
      probes: async () => probes({ access }),
    })
    return { namespaces, stdout }
  }
  const config = (namespace: string): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a${namespace}}\n`
  const api = {
    'apps/api/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: api}\n',
  }
  const declared = await asked({ ...api, 'apps/api/a.yaml': config(', namespace: api') })
  assert.deepEqual(declared.namespaces.sort(), ['api', 'shop'])
  assert.match(
    declared.stdout,
    /^✗ BP3003 cluster prod: the account may not get or list anything in namespaces (api, shop|shop, api)$/m,
  )
  assert.deepEqual((await asked({ ...api, 'apps/api/a.yaml': config('') })).namespaces.sort(), [
    'default',
    'shop',
  ])
  const many = Array.from({ length: 12 }, (_, index) =>
    config(`${index}, namespace: n${index}`),
  ).join('---\n')
  const { namespaces, stdout } = await asked({ ...api, 'apps/api/a.yaml': many })
  assert.equal(namespaces.length, 10)
  assert.match(
    stdout,
    /^\? cluster prod: the rights in further namespaces of the packages were not asked for: \S+; \S+; \S+$/m,
  )
})

test('reports the source of the key and whether git knows the user', async () => {
  const known = await check({})
  assert.match(known.stdout, /^✓ key: from BACKPORCH_KEY$/m)
  assert.match(known.stdout, /^✓ git: knows who you are$/m)
  const file = await check({
    keySource: async () => ({ from: 'file', path: '/key' }),
    hasGitIdentity: async () => false,
  })
  assert.match(
    file.stdout,
    /^✓ key: from \/key; scans on other machines need the same key \(BACKPORCH_KEY\) to recognise what was decided$/m,
  )
  assert.match(
    file.stdout,
    /^! git: has no user\.name and user\.email, so decisions made here are signed as Ada/m,
  )
  const none = await check({ keySource: async () => ({ from: 'nowhere', path: '/key' }) })
  assert.match(
    none.stdout,
    /^! key: there is none yet; the first command that needs one creates \/key\n {4}fix: /m,
  )
})

test('ends with the count of lines per kind, unless --quiet', async () => {
  assert.match(
    (await check({ hasGitIdentity: async () => false })).stdout,
    /\n\d+ passed, 1 warning, 0 failed, \d+ unknown\n$/,
  )
  assert.doesNotMatch((await check({}, '--quiet')).stdout, /passed,/)
})

test('text from a server stays on one line', async () => {
  const run = await check({
    forge: async () => [{ ...MISSING, message: 'a\n✓ b\u001b[31m', fix: 'c\nd' }],
  })
  assert.match(run.stdout, /^✗ BP5003 a\\u\{a\}✓ b\\u\{1b\}\[31m\n {4}fix: c\\u\{a\}d$/m)
})
