/** What is compared where `sops` may decrypt, with a program in place of SOPS or with the real one: no plain value leaves the process. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { addPackageBuilds, PackageBuilds } from '../../src/adapters/functions/package-builds.ts'
import { createSopsDecryptor } from '../../src/adapters/functions/sops-values.ts'
import type { PackageRenderer } from '../../src/sources/kpt/render/package-renderer.ts'
import { type CliOutcome, runInWorld } from '../fakes/cli-world.ts'
import { InProcessRenderer } from '../fakes/in-process-renderer.ts'
import { appliedBy } from '../fakes/live-object.ts'
import { TurnWorld } from '../fakes/turn-world.ts'

export interface SopsTools {
  /** Absolute path. */
  readonly program: string
  /** With the key that opens what `encrypt` makes. */
  readonly environment: { readonly [name: string]: string }
  /** With a key that opens nothing. */
  readonly wrongKey: { readonly [name: string]: string }
  /** Values below `data` and `stringData`. */
  readonly encrypt: (text: string) => string
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')
export const PASSWORD = 'c4n4ry-password-one'
export const NEXT_PASSWORD = 'c4n4ry-password-two'
const TOKEN = 'c4n4ry-token-1'
const DSN = 'c4n4ry-dsn-one'
const BY_HAND = 'c4n4ry-by-hand'
const CANARIES = [PASSWORD, NEXT_PASSWORD, TOKEN, DSN, BY_HAND]

const DB = '/Secret/shop/db'
const API = '/Secret/shop/api'
const SETTINGS = '/ConfigMap/shop/settings'

/** A file with one document of each form. */
export function documents(
  password = PASSWORD,
  field: 'data' | 'stringData' = 'stringData',
): string {
  const token = field === 'data' ? base64(TOKEN) : TOKEN
  const document = (kind: string, name: string, rest: string): string =>
    `apiVersion: v1\nkind: ${kind}\nmetadata:\n    name: ${name}\n    namespace: shop\n    labels:\n        tier: one\n${rest}`
  return [
    document('Secret', 'db', `data:\n    password: ${base64(password)}\n`),
    document('Secret', 'api', `${field}:\n    token: ${token}\n`),
    document('ConfigMap', 'settings', `data:\n    dsn: ${DSN}\n    port: "5432"\n`),
  ].join('---\n')
}

export function assertSilent(text: string, where: string): void {
  for (const canary of CANARIES)
    for (const form of [
      canary,
      base64(canary),
      base64(canary).replace(/=+$/, ''),
      Buffer.from(canary).toString('hex'),
    ])
      assert.ok(
        !text.includes(form),
        `${where} has ${canary}: ${text.slice(Math.max(0, text.indexOf(form) - 200), text.indexOf(form))}`,
      )
}

export function rendererOf(
  tools: SopsTools,
  environment = tools.environment,
  allowed: readonly string[] = [tools.program],
): PackageRenderer {
  const sops = createSopsDecryptor({ allowed, environment, workingDirectory: '/' })
  return addPackageBuilds(
    new InProcessRenderer(),
    new PackageBuilds({ allowed: ['kubectl'], environment: process.env }),
    sops,
  )
}

class EncryptedWorld extends TurnWorld {
  readonly printed: string[] = []
  private readonly renderer: PackageRenderer

  constructor(tools: SopsTools, text = tools.encrypt(documents()), renderer = rendererOf(tools)) {
    super('{mode: Propose}', { 'apps/web/secrets.yaml': text })
    this.renderer = renderer
    this.apply()
  }

  /** The syncer applies what it decrypted. */
  apply(password = PASSWORD): void {
    for (const { value } of parseGoYaml(documents(password, 'data'), 'test').documents)
      this.cluster.put(appliedBy(this.syncer, value as JsonObject, this.cluster.now))
  }

  async run(...argv: readonly string[]): Promise<CliOutcome> {
    const authored = this.repository.everything()
    const outcome = await runInWorld(this, argv, { renderer: this.renderer, waits: [] })
    this.printed.push(outcome.stdout, outcome.stderr)
    for (const text of [
      outcome.stdout,
      outcome.stderr,
      this.repository.everything().replace(authored, ''),
    ])
      assertSilent(text, argv.join(' '))
    return outcome
  }

  /** `api modified data.token`, sorted. */
  async changes(): Promise<readonly string[]> {
    const { stdout, stderr, code } = await this.run('diff', '-o', 'json')
    assert.notEqual(code, 2, stderr)
    const { items } = JSON.parse(stdout) as {
      items: { spec: { changes: { ref: { name: string }; change: string; path: string }[] } }[]
    }
    return items
      .flatMap(({ spec }) =>
        spec.changes.map(({ ref, change, path }) => `${ref.name} ${change} ${path}`),
      )
      .sort()
  }
}

export function decryptedSuite(title: string, tools: () => SopsTools): void {
  describe(title, () => {
    test('compares decrypted values, whoever wrote the live ones', async () => {
      const world = new EncryptedWorld(tools())
      assert.deepEqual(await world.changes(), [])
      // The same values, written by somebody else: in sync, which only a comparison shows.
      world.edit(DB, 'data.password', base64(PASSWORD))
      world.edit(API, 'data.token', base64(TOKEN))
      world.edit(SETTINGS, 'data.dsn', DSN)
      assert.deepEqual(await world.changes(), [])
      // Other values under the name of the syncer: drift, which only a comparison shows.
      world.edit(DB, 'data.password', base64(BY_HAND), world.syncer)
      world.edit(API, 'data.token', base64(BY_HAND))
      world.edit(SETTINGS, 'data.dsn', BY_HAND)
      assert.deepEqual(await world.changes(), [
        'api modified data.token',
        'db modified data.password',
        'settings modified data.dsn',
      ])
    })

    test('a value rotated in git is behind until it is applied, and in sync afterwards', async () => {
      const world = new EncryptedWorld(tools())
      world.repository.commitByHand('main', {
        'apps/web/secrets.yaml': tools().encrypt(documents(NEXT_PASSWORD)),
      })
      assert.deepEqual(await world.changes(), [])
      const { stdout } = await world.run('diff', '--show-ignored')
      assert.match(stdout, /Behind.*: Secret shop\/db data\.password: live is what/)
      world.apply(NEXT_PASSWORD)
      assert.deepEqual(await world.changes(), [])
      assert.doesNotMatch((await world.run('diff', '--show-ignored')).stdout, /Behind/)
    })

    for (const [what, text, environment, why] of [
      [
        'a file that was edited without the key',
        (text: string) => text.replace('tier: one', 'tier: two'),
        undefined,
        /BP1211.*signature/,
      ],
      [
        'a key that opens nothing',
        (text: string) => text,
        'wrong',
        /BP1211.*no given key decrypts it.*SOPS_AGE_KEY_FILE/,
      ],
      [
        'no key',
        (text: string) => text,
        'none',
        /BP1211.*sops is allowed, but it has no key; set SOPS_AGE_KEY_FILE/,
      ],
    ] as const) {
      test(`with ${what} it compares by writer, with a note that says why, and reports no drift`, async () => {
        const { wrongKey, environment: right } = tools()
        const given = environment === 'wrong' ? wrongKey : environment === 'none' ? {} : right
        const world = new EncryptedWorld(
          tools(),
          text(tools().encrypt(documents())),
          rendererOf(tools(), given),
        )
        if (environment === undefined) world.edit(DB, 'metadata.labels.tier', 'two', world.syncer)
        const { stderr, stdout, code } = await world.run('diff')
        assert.equal(code, 0, stdout)
        assert.match(stderr, why)
        assert.match(stderr, /apps\/web\/secrets\.yaml/)
        world.edit(DB, 'data.password', base64(BY_HAND))
        assert.deepEqual(await world.changes(), ['db modified data.password'])
      })
    }

    test('refuses Adopt and Release, and no command shows or writes a plain value', async () => {
      const world = new EncryptedWorld(tools())
      world.edit(DB, 'data.password', base64(BY_HAND), world.syncer)
      world.edit(SETTINGS, 'data.dsn', BY_HAND)
      for (const resolution of ['adopt', 'release']) {
        const { code, stderr } = await world.run(resolution, 'apps/web', '-m', 'why', '--debug')
        assert.equal(code, 2)
        assert.match(stderr, /SOPS/)
      }
      for (const argv of ALL) await world.run(...argv)
      assert.ok(world.printed.join('').includes('data.password'))
    })
  })
}

const ALL = [
  ['diff', '-o', 'wide', '--show-ignored', '--debug'],
  ['diff', '-o', 'yaml'],
  ['diff', '--yaml'],
  ['diff', '-o', 'sarif'],
  ['diff', '-o', 'markdown'],
  ['explain', 'apps/web', 'all'],
  ['scan', '--debug'],
  ['restore', 'apps/web'],
  ['approve', 'apps/web', '--yes'],
  ['status', '-o', 'yaml'],
  ['history', '-o', 'json'],
  ['report'],
  ['controller', '--log-format', 'json', '--log-level', 'trace', '--debug'],
] as const
