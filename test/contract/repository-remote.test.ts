/** Of a remote, what is needed is fetched and no more, where the server can do that; where it cannot, its branches whole. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { PackageRepository } from '@backporch/git-store/package-repository'
import type { RepositoryOptions } from '@backporch/git-store/repository'
import { type ObjectId, parseObjectId } from '@backporch/kyaml/files'
import {
  changeOf,
  expectFailure,
  headOf,
  makeTestRepository,
  openTestRepository,
  type RemoteKind,
  type TestRepository,
} from './git-remotes.ts'

const { signal } = new AbortController()
const DRAFT = 'refs/heads/drafts/apps/web/drift-1'
const REMOTES: readonly RemoteKind[] = ['file', 'http', 'ssh']

/** What a server may be unlike: the settings of its repository, and whether it lets the protocol version in. */
interface Server {
  readonly settings?: Readonly<Record<string, string>>
  readonly old?: boolean
}

const MODERN: Server = { settings: { 'uploadpack.allowFilter': 'true' } }
/** Each with what it can do, and whether older commits have to be fetched with everything between. */
const SERVERS: Readonly<Record<string, Server>> = {
  'version 2, filters': MODERN,
  'version 2, no filters': {},
  'version 0, filters, any object': {
    old: true,
    settings: { 'uploadpack.allowFilter': 'true', 'uploadpack.allowAnySHA1InWant': 'true' },
  },
  'version 0, filters, advertised objects only': {
    old: true,
    settings: { 'uploadpack.allowFilter': 'true' },
  },
  'version 0, nothing else': { old: true },
  'version 2, filters that it refuses': {
    settings: { 'uploadpack.allowFilter': 'true', 'uploadpackfilter.allow': 'false' },
  },
  'version 2, the filter of files alone': {
    settings: {
      'uploadpack.allowFilter': 'true',
      'uploadpackfilter.allow': 'false',
      'uploadpackfilter.blob:none.allow': 'true',
    },
  },
}

interface Opened {
  readonly repository: PackageRepository
  /** `list refs` and `send`, in order. */
  readonly requested: string[]
}

const withServer = (
  name: string,
  kind: RemoteKind,
  server: Server,
  body: (fixture: TestRepository, open: () => Opened) => Promise<void>,
) =>
  test(name, async () => {
    const result = await makeTestRepository(kind)
    for (const [key, value] of Object.entries(server.settings ?? {}))
      result.git('config', key, value)
    // git itself then answers in version 0, whatever it is asked for (protocol.version of a server is in its own environment).
    const environment =
      server.old === true
        ? { ...result.environment, PATH: withoutVersion(result) }
        : result.environment
    const open = (): Opened => {
      const requested: string[] = []
      const trace: RepositoryOptions['trace'] = ({ what }) =>
        void requested.push(what.includes(': list refs') ? 'list refs' : 'send')
      return {
        repository: openTestRepository({ ...result, environment }, { trace, baseBranch: 'main' }),
        requested,
      }
    }
    try {
      await body(result, open)
    } finally {
      await result.close()
    }
  })

/** A `git` in front of the real one that forgets which version it was asked for. */
function withoutVersion(fixture: TestRepository): string {
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const folder = join(fixture.root, 'old')
  execFileSync('mkdir', ['-p', folder])
  writeFileSync(join(folder, 'git'), `#!/bin/sh\nunset GIT_PROTOCOL\nexec ${real} "$@"\n`, {
    mode: 0o755,
  })
  return `${folder}:${fixture.environment['PATH']}`
}

/** Adds to main: commits with a file that cannot be compressed, of this many bytes. */
function grow(fixture: TestRepository, commits: number, bytes: number): void {
  const parts: (string | Buffer)[] = []
  for (let at = 0; at < commits; at += 1) {
    const blob = randomBytes(bytes)
    const from = at === 0 ? 'from refs/heads/main^0\n' : ''
    parts.push(
      `commit refs/heads/main\ncommitter Ada <ada@example.com> ${1_700_000_100 + at} +0000\ndata 4\nmore\n${from}`,
    )
    parts.push(`M 100644 inline images/${at % 5}.bin\ndata ${blob.length}\n`, blob, '\n')
    parts.push(
      `M 100644 inline apps/web/deploy.yaml\ndata ${String(at).length + 12}\nreplicas: ${at}\n\n\n`,
    )
  }
  execFileSync('git', ['fast-import', '--quiet'], {
    cwd: fixture.gitFolder,
    env: fixture.environment,
    input: Buffer.concat(parts.map((each) => Buffer.from(each))),
  })
}

function cacheBytes(fixture: TestRepository): number {
  const files = readdirSync(fixture.cacheDir, { recursive: true, withFileTypes: true }).filter(
    (each) => each.isFile(),
  )
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

async function readPackage(repository: PackageRepository, commit: ObjectId): Promise<string> {
  const files = await repository.list(commit, 'apps/web', signal)
  const contents = await repository.read(
    files.map(({ id }) => id),
    signal,
  )
  return files
    .map(({ path, id }) => `${path} ${Buffer.from(contents.get(id) ?? []).toString()}`)
    .join('\n')
}

for (const kind of REMOTES) {
  withServer(
    `${kind}: one package of a long history costs its folders and its files`,
    kind,
    MODERN,
    async (fixture, open) => {
      grow(fixture, 60, 100_000)
      const { repository, requested } = open()
      const head = await headOf(repository, signal)
      assert.equal((await repository.list(head, '', signal)).length, 12)
      assert.match(await readPackage(repository, head), /deploy\.yaml replicas: 59/)
      const requests = requested.filter((what) => what === 'send').length
      // Base branch, branches of ours, and all files of the package together.
      assert.equal(requests, 3)
      assert.ok(cacheBytes(fixture) < 30_000, `${cacheBytes(fixture)} bytes`)
      const again = open()
      assert.match(
        await readPackage(again.repository, await headOf(again.repository, signal)),
        /replicas: 59/,
      )
      assert.deepEqual(again.requested, ['list refs'], 'everything is in the cache')
    },
  )

  withServer(
    `${kind}: what is pushed from there is whole, and is read back`,
    kind,
    MODERN,
    async (fixture, open) => {
      grow(fixture, 3, 50_000)
      const { repository } = open()
      const base = await headOf(repository, signal)
      const to = await repository.write(
        changeOf(base, { 'apps/web/deploy.yaml': 'replicas: 9\n', 'images/0.bin': null }),
      )
      await repository.push([{ ref: DRAFT, from: null, to }], signal)
      assert.equal(fixture.git('show', `${DRAFT}:apps/web/deploy.yaml`), 'replicas: 9')
      assert.equal(fixture.git('fsck', '--strict', '--no-dangling'), '')
      assert.ok(cacheBytes(fixture) < 40_000, `${cacheBytes(fixture)} bytes`)
      const later = open()
      assert.equal((await later.repository.listRefs(signal)).refs.get(DRAFT), to)
      assert.match(await readPackage(later.repository, to), /replicas: 9/)
    },
  )
}

for (const [name, server] of Object.entries(SERVERS)) {
  for (const kind of name.startsWith('version 0')
    ? (['file', 'ssh'] as const)
    : (['http'] as const)) {
    withServer(
      `${kind}, ${name}: the same is read, near and far back`,
      kind,
      server,
      async (fixture, open) => {
        grow(fixture, 80, 300)
        fixture.git('update-ref', 'refs/tags/apps/web/v7', fixture.git('rev-parse', 'main~60'))
        fixture.git(
          'update-ref',
          DRAFT,
          fixture.git('commit-tree', '-p', 'main~50', '-m', 'Draft', 'main~50^{tree}'),
        )
        fixture.git(
          'update-ref',
          'refs/heads/drift-ledger',
          fixture.git('commit-tree', '-m', 'Ledger', 'main^{tree}:apps'),
        )
        const { repository } = open()
        const { refs } = await repository.listRefs(signal)
        const head = parseObjectId(refs.get('refs/heads/main') ?? '')
        let commit = await repository.commit(head, signal)
        const messages = [commit.message]
        for (let at = 1; commit.parents[0] !== undefined; at += 1) {
          if (at % 35 === 0)
            assert.match(
              await readPackage(repository, commit.id),
              new RegExp(`replicas: ${80 - at}\n`),
            )
          commit = await repository.commit(commit.parents[0], signal)
          messages.push(commit.message)
        }
        assert.equal(
          messages.length,
          82,
          'the end of what was fetched is never the beginning of history',
        )
        assert.deepEqual(messages.slice(-2), ['Second\n\nWith a body.\n', 'First\n'])
        for (const ref of [
          'refs/tags/apps/web/v7',
          'refs/tags/apps/web/v2',
          DRAFT,
          'refs/heads/drift-ledger',
        ]) {
          const fresh = open().repository
          await fresh.listRefs(signal)
          const folder = ref.endsWith('ledger') ? 'web' : 'apps/web'
          const files = await fresh.list(parseObjectId(refs.get(ref) ?? ''), folder, signal)
          const contents = await fresh.read(
            files.map(({ id }) => id),
            signal,
          )
          assert.equal(contents.size, new Set(files.map(({ id }) => id)).size)
          assert.ok(files.length > 2, ref)
        }
        await expectFailure(repository.commit(parseObjectId('1'.repeat(40)), signal), 'BP4006')
      },
    )
  }
}

withServer(
  'the base branch moves on by a few objects, and branches with it',
  'http',
  MODERN,
  async (fixture, open) => {
    grow(fixture, 20, 2_000)
    const { repository, requested } = open()
    await repository.list(await headOf(repository, signal), '', signal)
    const before = cacheBytes(fixture)
    fixture.git(
      'update-ref',
      'refs/heads/main',
      fixture.git('commit-tree', '-p', 'main', '-m', 'Next', 'main^{tree}'),
    )
    for (let at = 0; at < 20; at += 1)
      fixture.git(
        'update-ref',
        `refs/heads/proposed/apps/web/drift-${at}`,
        fixture.git('commit-tree', '-p', `main~${at}`, '-m', `n ${at}`, `main~${at}^{tree}`),
      )
    requested.length = 0
    for (const [name, id] of (await repository.listRefs(signal)).refs)
      if (name.includes('drift-') || name.endsWith('main')) await repository.commit(id, signal)
    assert.deepEqual(requested, [
      'list refs',
      'list refs',
      'send',
      'list refs',
      'send',
      'list refs',
      'send',
    ])
    assert.ok(cacheBytes(fixture) - before < 60_000, `${cacheBytes(fixture) - before} bytes`)
  },
)

withServer('refs of others are not asked for', 'http', MODERN, async (fixture, open) => {
  const main = fixture.git('rev-parse', 'main')
  const lines = Array.from({ length: 3000 }, (_each, at) => `create refs/pull/${at}/head ${main}\n`)
  execFileSync('git', ['update-ref', '--stdin'], {
    cwd: fixture.gitFolder,
    env: fixture.environment,
    input: lines.join(''),
  })
  const { repository } = open()
  const sizes: number[] = []
  const whole = globalThis.fetch
  globalThis.fetch = async (...args) => {
    const response = await whole(...args)
    const bytes = await response.arrayBuffer()
    sizes.push(bytes.byteLength)
    return new Response(bytes, response)
  }
  try {
    assert.equal((await repository.listRefs(signal)).refs.size, 5)
  } finally {
    globalThis.fetch = whole
  }
  assert.ok(sizes.reduce((sum, each) => sum + each, 0) < 2_000, `${sizes}`)
})
