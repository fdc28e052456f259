/** A world full of credentials, and the check that a text has none of them. */
import assert from 'node:assert/strict'
import { appliedBy } from './live-object.ts'
import { CONFIG, DEPLOYMENT, KPTFILE, TurnWorld, WEB, WEB_CONFIG } from './turn-world.ts'

const CANARIES = [
  'c4n4ry-live-0',
  'c4n4ry-git-00',
  'c4n4ry-env-00',
  'c4n4ry-conf-0',
  'c4n4ry-last-0',
  'c4n4ry-err-00',
  'c4n4ry-args-0',
  'c4n4ry-path-0',
  'c4n4ry-head-0',
]
export const base64 = (text: string): string => Buffer.from(text).toString('base64')

const SECRET = `apiVersion: v1
kind: Secret
metadata: {name: db, namespace: shop}
data: {user: ${base64('c4n4ry-git-00')}}
stringData: {plain: c4n4ry-git-00}
`

/** A credential by its form, for where a path holds it. */
export function inPath(location: string): string {
  return `ghp_c4n4ry-path-0-${location}-0123456789`
}

/** A world in which credentials drifted in every place where one may stand. */
export function worldWithSecrets(metadataOnly = false): TurnWorld {
  const world = new TurnWorld(
    '{mode: Propose, ignore: [{target: {kind: Secret, name: ignored}, reason: known}]}',
    {
      'apps/web/secret.yaml': SECRET,
      'apps/web/ignored.yaml': SECRET.replace('name: db', 'name: ignored'),
      'apps/web/Kptfile': KPTFILE,
    },
  )
  for (const name of ['db', 'ignored']) {
    world.cluster.put(
      appliedBy(world.syncer, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace: 'shop' },
        data: { user: base64('c4n4ry-git-00'), plain: base64('c4n4ry-git-00') },
      }),
    )
    world.edit(`/Secret/shop/${name}`, 'data.user', base64('c4n4ry-live-0'))
    world.edit(`/Secret/shop/${name}`, 'data.added', base64('c4n4ry-live-0'))
    world.edit(
      `/Secret/shop/${name}`,
      'metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]',
      '{"data":{"x":"c4n4ry-last-0"}}',
    )
  }
  const app = 'spec.template.spec.containers[name=app]'
  world.edit(WEB, `${app}.env[name=DB_PASSWORD]`, { name: 'DB_PASSWORD', value: 'c4n4ry-env-00' })
  world.edit(WEB, `${app}.args`, ['--token=c4n4ry-args-0'])
  world.edit(WEB_CONFIG, 'data.password', 'c4n4ry-conf-0')
  world.edit(WEB_CONFIG, 'data.color', 'postgres://app:c4n4ry-conf-0@db/app')
  world.edit(WEB_CONFIG, `metadata.finalizers[="${inPath('set')}"]`, inPath('set'))
  world.edit(WEB_CONFIG, `data["${inPath('key')}"]`, 'plain')
  world.edit(WEB_CONFIG, 'metadata.annotations["example.com/list"]', `{"${inPath('text')}": 1}`)
  world.edit(WEB, `${app}.env[name="${inPath('item')}"]`, { name: inPath('item'), value: 'plain' })
  world.cluster.metadataOnly = metadataOnly
  return world
}

export function assertSilent(text: string, where: string): void {
  for (const canary of CANARIES) {
    const forms = [
      canary,
      base64(canary),
      base64(canary).replace(/=+$/, ''),
      Buffer.from(canary).toString('hex'),
      encodeURIComponent(canary),
    ]
    for (const form of forms)
      assert.ok(
        !text.includes(form),
        `${where} has ${canary}:\n${text.slice(Math.max(0, text.indexOf(form) - 200), text.indexOf(form) + 50)}`,
      )
  }
}

/** Credentials of git and of a head, before and after the merge, and other ones that are live. */
export function commitHead(world: TurnWorld): void {
  const config = CONFIG.replace(
    'color: blue',
    'color: postgres://app:c4n4ry-head-0@db/app\n  password: c4n4ry-head-0',
  )
  const deployment = DEPLOYMENT.replace('name: COLOR', 'name: DB_PASSWORD').replace(
    'value: blue',
    'value: c4n4ry-head-0',
  )
  world.repository.branches.set('refs/heads/change', world.repository.head('main'))
  world.repository.commitByHand('change', {
    'apps/web/config.yaml': config,
    'apps/web/deployment.yaml': deployment,
  })
}
