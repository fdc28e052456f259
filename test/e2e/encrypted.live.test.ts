/**
 * What SOPS encrypted in git and the syncer applied decrypted is in sync as long as the syncer is the last writer. Keys are
 * compared, a value that somebody else wrote is drift that is not shown, and no ciphertext ever reaches the cluster.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import type { Change } from '../../src/record/documents/change.ts'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { createGadgetKind } from './desired-package.ts'
import { kptfile, policy } from './packages.ts'
import { assertExit, openWorld, SYNCER, type World } from './world.ts'

const enc = (text: string): string =>
  `ENC[AES256_GCM,data:${Buffer.from(`#${text}#`).toString('base64')},iv:c29tZSBpdg==,tag:c29tZSB0YWc=,type:str]`
const SOPS = `sops:
  age:
  - recipient: age1q0
    enc: |
      -----BEGIN AGE ENCRYPTED FILE-----
      YWdlLWVuY3J5cHRpb24=
      -----END AGE ENCRYPTED FILE-----
  lastmodified: "2026-11-20T10:00:00Z"
  mac: ${enc('mac')}
  encrypted_regex: ^(data|stringData)$
  version: 3.9.4
`
/** Made up for this test; none of them may leave the process. */
const PLAIN = {
  password: 'orig-canary-1',
  token: 'orig-canary-2',
  dsn: 'orig-canary-3',
  byHand: 'hand-canary-4',
  added: 'hand-canary-5',
}

interface Documents {
  readonly encrypted: string
  readonly decrypted: string
}

function documents(namespace: string): Documents {
  const secret = (
    field: 'data' | 'stringData',
    name: string,
    password: string,
    sops: string,
  ): string => `apiVersion: v1
kind: Secret
metadata:
  name: ${name}
  namespace: ${namespace}
  labels: {app: web}
${field}:
  password: ${password}
${sops}`
  const config = (dsn: string, sops: string): string => `apiVersion: v1
kind: ConfigMap
metadata:
  name: config
  namespace: ${namespace}
  labels: {app: web}
data:
  dsn: ${dsn}
${sops}`
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  return {
    encrypted: [
      secret('data', 'db', enc(base64(PLAIN.password)), SOPS),
      secret('stringData', 'api', enc(PLAIN.token), SOPS),
      config(enc(PLAIN.dsn), SOPS),
    ].join('---\n'),
    decrypted: [
      secret('data', 'db', base64(PLAIN.password), ''),
      secret('stringData', 'api', PLAIN.token, ''),
      config(PLAIN.dsn, ''),
    ].join('---\n'),
  }
}

await controlPlaneSuite('objects encrypted with SOPS', { auditLevel: 'Request' }, (plane) => {
  async function open(
    t: TestContext,
    more: Record<string, string> = {},
  ): Promise<{ world: World; namespace: string; decrypted: string }> {
    const namespace = await plane.namespace('sops')
    const { encrypted, decrypted } = documents(namespace)
    const world = await openWorld(t, plane, {
      'apps/web/Kptfile': kptfile('web'),
      'apps/web/secrets.yaml': encrypted,
      ...more,
    })
    t.after(() => {
      assert.ok(plane.auditLog !== undefined)
      // Somebody reads the log of other tests too: only what was sent about this namespace.
      const sent = readFileSync(plane.auditLog, 'utf8')
        .split('\n')
        .filter((line) => line.includes(`"namespace":"${namespace}"`))
      assert.ok(sent.length > 0)
      assert.deepEqual(
        sent.filter((line) => line.includes('ENC[AES256')),
        [],
        'no ciphertext is sent to the server',
      )
      const text = world.calls.map(({ stdout, stderr }) => stdout + stderr).join('\n')
      for (const value of Object.values(PLAIN))
        assert.ok(
          !text.includes(value) && !text.includes(Buffer.from(value).toString('base64')),
          value,
        )
    })
    return { world, namespace, decrypted }
  }

  const applies = {
    'server-side': ['apply', '--server-side', `--field-manager=${SYNCER}`, '-f', '-'],
    'client-side': ['apply', '-f', '-'],
  } as const

  for (const how of ['server-side', 'client-side'] as const) {
    test(`applied ${how}: reports nothing untouched, finds each hand edit with its actor, and shows no value`, async (t) => {
      const { world, namespace, decrypted } = await open(t)
      await world.pipe(decrypted, ...applies[how])
      const calm = assertExit(await world.backporch('diff'), 0)
      assert.deepEqual([calm.stdout, calm.stderr], ['', ''])

      const patch = (object: string, body: object) =>
        world.kubectl('patch', object, '-n', namespace, '--type=merge', '-p', JSON.stringify(body))
      await patch('secret/db', { stringData: { password: PLAIN.byHand } })
      await patch('secret/db', { metadata: { labels: { app: 'other' } } })
      await patch('secret/api', { stringData: { extra: PLAIN.added } })
      await patch('configmap/config', { data: { dsn: PLAIN.byHand, more: PLAIN.added } })
      const changes = await changesOf(world)
      assert.deepEqual(
        changes
          .map(({ ref, change, path, actor }) => `${ref.name} ${change} ${path} ${actor.manager}`)
          .sort(),
        [
          'api added data.extra kubectl-patch',
          'config added data.more kubectl-patch',
          'config modified data.dsn kubectl-patch',
          'db modified data.password kubectl-patch',
          'db modified metadata.labels.app kubectl-patch',
        ],
      )
      for (const { path, live } of changes)
        if (path?.startsWith('data'))
          assert.match(String(live), /^hmac-sha256:[0-9a-f]{16} \(\d+ bytes\)$/, path)
      const before = changes.find(({ path }) => path === 'data.dsn')?.fingerprint
      await patch('configmap/config', { data: { dsn: `${PLAIN.byHand}again` } })
      const after = (await changesOf(world)).find(({ path }) => path === 'data.dsn')?.fingerprint
      assert.ok(
        before !== undefined && after !== undefined && before !== after,
        'another value is another change',
      )
      assertExit(await world.backporch('diff', '--yaml'), 1)
      assertExit(await world.backporch('explain', 'apps/web'), 0)
      assertExit(await world.backporch('scan'), 1)
      assert.doesNotMatch(String(await world.everyObject()), /canary/)
    })
  }

  test('a removed key and a removed object are drift; an object without known writer is unverified', async (t) => {
    const { world, namespace, decrypted } = await open(t)
    await world.pipe(decrypted, ...applies['server-side'])
    await world.kubectl(
      'patch',
      'configmap/config',
      '-n',
      namespace,
      '--type=json',
      '-p',
      '[{"op":"remove","path":"/data/dsn"}]',
    )
    await world.kubectl('delete', 'secret/api', '-n', namespace)
    await world.kubectl(
      'patch',
      'secret/db',
      '-n',
      namespace,
      '--type=json',
      '-p',
      '[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]',
    )
    const run = assertExit(await world.backporch('diff', '-o', 'json'), 3)
    const list: DriftReportList = JSON.parse(run.stdout)
    const lines = list.items
      .flatMap(({ spec }) => spec.changes)
      .map(({ ref, change, path }) => `${ref.name} ${change} ${path ?? ''}`)
    assert.deepEqual(lines.sort(), ['api missing ', 'config removed data.dsn'])
    assert.deepEqual(
      list.items[0]?.status.incomplete?.map(({ ref, state, why }) => [
        ref?.name,
        state,
        /git encrypts data\.password with SOPS/.test(why),
      ]),
      [['db', 'unverified', true]],
    )
  })

  test('does not compare encrypted numbers and texts of a custom resource, and compares the rest', async (t) => {
    const { group } = await createGadgetKind(plane)
    const namespace = await plane.namespace('sops')
    const gadget = (size: string, sops: string): string => `apiVersion: ${group}/v1
kind: Gadget
metadata:
  name: g
  namespace: ${namespace}
spec:
  size: ${size}
  policy: Hard
${sops}`
    const text = gadget('ENC[AES256_GCM,data:MQ==,iv:aXY=,tag:dGFn,type:int]', SOPS)
    const world = await openWorld(t, plane, {
      'apps/web/Kptfile': kptfile('web'),
      'apps/web/g.yaml': text,
    })
    await world.pipe(gadget('7', ''), ...applies['server-side'])
    assert.equal(assertExit(await world.backporch('diff'), 0).stdout, '')
    await world.kubectl(
      'patch',
      `gadgets.${group}/g`,
      '-n',
      namespace,
      '--type=merge',
      '-p',
      '{"spec":{"size":8}}',
    )
    const [change, ...more] = await changesOf(world)
    assert.deepEqual(
      [change?.change, change?.path, change?.actor.manager, more],
      ['modified', 'spec.size', 'kubectl-patch', []],
    )
    assert.match(String(change?.live), /^hmac-sha256:/)
  })

  test('refuses adopt and release in an encrypted file with the reason, and a merged restore writes no ciphertext', async (t) => {
    const { world, namespace, decrypted } = await open(
      t,
      policy('mode: Propose\nsettle: backporch'),
    )
    await world.pipe(decrypted, ...applies['server-side'])
    await world.kubectl(
      'patch',
      'configmap/config',
      '-n',
      namespace,
      '--type=merge',
      '-p',
      JSON.stringify({ data: { dsn: PLAIN.byHand } }),
    )
    for (const [verb, code] of [
      ['adopt', 'BP2002'],
      ['release', 'BP2001'],
    ] as const) {
      const refused = assertExit(await world.backporch(verb, 'apps/web', '1'), 2)
      assert.match(
        refused.stderr,
        new RegExp(`^error ${code}: cannot ${verb} data\\.dsn of ConfigMap`),
      )
      assert.match(
        refused.stderr,
        /apps\/web\/secrets\.yaml is encrypted with SOPS, whose signature covers every value/,
      )
    }
    assertExit(await world.backporch('scan'), 1)
    const approved = await world.backporch('approve', 'apps/web', '--yes')
    assert.match(approved.stderr, /git encrypts data\.dsn with SOPS, and backporch has no key/)
    assert.equal(
      await world.kubectl('get', 'configmap/config', '-n', namespace, '-o', 'jsonpath={.data.dsn}'),
      PLAIN.byHand,
    )
  })

  async function changesOf(world: World): Promise<readonly Change[]> {
    const list: DriftReportList = JSON.parse(
      assertExit(await world.backporch('diff', '-o', 'json'), 1).stdout,
    )
    assert.deepEqual(list.incomplete, [])
    return list.items.flatMap(({ spec }) => spec.changes)
  }
})
