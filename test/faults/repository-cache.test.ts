/** The clone is a cache: killed processes, full disks, damage and deletion cost time and nothing else. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import * as nodeFiles from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { FileOperations } from '@backporch/git-store/objects'
import type { PackageRepository } from '@backporch/git-store/package-repository'
import type { ObjectId } from '@backporch/kyaml/files'
import {
  expectFailure,
  headOf,
  makeTestRepository,
  openTestRepository,
  type TestRepository,
} from '../contract/git-remotes.ts'
import { boundCommand } from '../processes/bound-command.ts'

const { signal } = new AbortController()

const withRepository = (name: string, body: (fixture: TestRepository) => Promise<void>) =>
  test(name, async () => {
    const result = await makeTestRepository('file')
    try {
      await body(result)
    } finally {
      await result.close()
    }
  })

/** Everything of main, as `path text`. */
async function readAll(repository: PackageRepository): Promise<string> {
  const files = await repository.list(await headOf(repository, signal), '', signal)
  const contents = await repository.read(
    files.map((file) => file.id),
    signal,
  )
  return files
    .map((file) => `${file.path} ${Buffer.from(contents.get(file.id) ?? []).toString()}`)
    .join('\n')
}

/** Folder of the clone in use. */
function cloneOf(fixture: TestRepository): string {
  const [key = ''] = readdirSync(fixture.cacheDir)
  const [highest = ''] = readdirSync(join(fixture.cacheDir, key)).sort().reverse()
  return join(fixture.cacheDir, key, highest)
}

function packFiles(fixture: TestRepository, ending: string): readonly string[] {
  const folder = join(cloneOf(fixture), 'objects/pack')
  const names = readdirSync(folder).filter((name) => name.endsWith(ending))
  return names.map((name) => join(folder, name))
}

/** More files, so that a fetch takes long enough to be killed in. */
function grow(fixture: TestRepository, count: number, turn = 0): void {
  const lines = [
    'commit refs/heads/main',
    'committer Ada <ada@example.com> 1700000100 +0000',
    'data 4',
    'more',
    'from refs/heads/main^0',
  ]
  const files = Array.from({ length: count }, (_each, at) => {
    const text = `number: ${at}\nturn: ${turn}\n${'x'.repeat(at % 300)}\n`
    return `M 100644 inline many/${at % 20}/${turn}-${at}.yaml\ndata ${text.length}\n${text}`
  })
  const input = [...lines, ...files, ''].join('\n')
  execFileSync('git', ['fast-import', '--quiet'], {
    cwd: fixture.gitFolder,
    env: fixture.environment,
    input,
  })
}

/** Git itself finds no fault with any pack of the clone. */
function assertSound(fixture: TestRepository): void {
  const options = {
    cwd: cloneOf(fixture),
    env: fixture.environment,
    encoding: 'utf8',
    stdio: 'pipe',
  } as const
  assert.equal(execFileSync('git', ['verify-pack', ...packFiles(fixture, '.idx')], options), '')
}

const GARBAGE = 'a tips file of garbage'
const damages: Readonly<Record<string, (fixture: TestRepository) => void>> = {
  'a flipped bit in a pack': (fixture) => {
    for (const path of packFiles(fixture, '.pack')) {
      const bytes = readFileSync(path)
      bytes.writeUInt8(bytes.readUInt8(200) ^ 4, 200)
      writeFileSync(path, bytes)
    }
  },
  'a pack cut short': (fixture) => {
    for (const path of packFiles(fixture, '.pack')) truncateSync(path, 300)
  },
  'an empty pack file': (fixture) => {
    for (const path of packFiles(fixture, '.pack')) truncateSync(path, 0)
  },
  'an index of zeros': (fixture) => {
    for (const path of packFiles(fixture, '.idx'))
      writeFileSync(path, Buffer.alloc(readFileSync(path).length))
  },
  'an index with wrong offsets': (fixture) => {
    for (const path of packFiles(fixture, '.idx')) {
      const bytes = readFileSync(path)
      const count = bytes.readUInt32BE(8 + 255 * 4)
      const offsets = 8 + 1024 + count * 24
      bytes.copy(bytes, offsets, offsets + 4, offsets + count * 4)
      writeFileSync(path, bytes)
    }
  },
  'packs that are gone': (fixture) => {
    for (const ending of ['.pack', '.idx'])
      for (const path of packFiles(fixture, ending)) rmSync(path)
  },
  'an index without its pack': (fixture) => {
    for (const path of packFiles(fixture, '.pack')) rmSync(path)
  },
  [GARBAGE]: (fixture) => writeFileSync(join(cloneOf(fixture), 'tips'), '\0\0\0'),
  'a tips file that promises what is not there': (fixture) => {
    for (const ending of ['.pack', '.idx'])
      for (const path of packFiles(fixture, ending)) rmSync(path)
    writeFileSync(
      join(cloneOf(fixture), 'tips'),
      `${fixture.git('rev-parse', 'main')} refs/remotes/origin/main\n`,
    )
  },
  'the whole folder deleted': (fixture) => rmSync(fixture.cacheDir, { recursive: true }),
}

for (const [name, damage] of Object.entries(damages)) {
  withRepository(
    `${name}: read again from the remote, in the same process and in the next`,
    async (fixture) => {
      const running = openTestRepository(fixture)
      const expected = await readAll(running)
      damage(fixture)
      assert.equal(await readAll(openTestRepository(fixture)), expected)
      assert.equal(await readAll(running), expected)
      // Nothing had to be fetched after that one, so nobody wrote the file anew.
      if (name !== GARBAGE) assertSound(fixture)
    },
  )
}

withRepository(
  'a clone that is damaged again and again ends with a failure, not in a circle',
  async (fixture) => {
    const head = await headOf(openTestRepository(fixture), signal)
    let packs = 0
    const fs: FileOperations = {
      ...nodeFiles,
      rename: async (from, to) => {
        await nodeFiles.rename(from, to)
        if (!String(to).endsWith('.pack') || !String(to).includes('objects/pack')) return
        packs += 1
        truncateSync(String(to), 100)
      },
    }
    await expectFailure(openTestRepository(fixture, { fs }).commit(head, signal), 'BP4006')
    assert.ok(packs >= 1 && packs <= 2, `${packs} packs`)
  },
)

withRepository('a remote that lacks an object says so', async (fixture) => {
  const blob = fixture.git('rev-parse', 'main:README.md')
  rmSync(join(fixture.gitFolder, 'objects', blob.slice(0, 2), blob.slice(2)))
  await expectFailure(readAll(openTestRepository(fixture)), 'BP4006')
})

withRepository(
  'a machine that can open no more files is told so, and the clone is kept',
  async (fixture) => {
    await readAll(openTestRepository(fixture))
    const fs: FileOperations = {
      ...nodeFiles,
      readFile: (async () => {
        throw Object.assign(new Error('EMFILE'), { code: 'EMFILE' })
      }) as typeof nodeFiles.readFile,
    }
    const clone = cloneOf(fixture)
    await expectFailure(readAll(openTestRepository(fixture, { fs })), 'BP4008')
    assert.equal(cloneOf(fixture), clone)
  },
)

withRepository(
  'a new commit costs one object, also beside more drafts than a request can name',
  async (fixture) => {
    const drafts = Array.from(
      { length: 300 },
      (_each, at) =>
        `commit refs/heads/drafts/apps/web/d-${at}\ncommitter A <a@b> ${at} +0000\ndata 1\nx\nM 100644 inline a\ndata 1\n${at % 10}\n`,
    )
    execFileSync('git', ['fast-import', '--quiet'], {
      cwd: fixture.gitFolder,
      env: fixture.environment,
      input: drafts.join('\n'),
    })
    const repository = openTestRepository(fixture)
    await readAll(repository)
    const before = new Set(packFiles(fixture, '.pack'))
    fixture.git(
      'update-ref',
      'refs/heads/main',
      fixture.git('commit-tree', '-p', 'main', '-m', 'Next', 'main^{tree}'),
    )
    await readAll(repository)
    const added = packFiles(fixture, '.pack').filter((path) => !before.has(path))
    assert.deepEqual(
      added.map((path) => readFileSync(path).readUInt32BE(8)),
      [1],
    )
  },
)

withRepository(
  'an object that is only in an abandoned history is found as long as some ref reaches it',
  async (fixture) => {
    const lonely = fixture.git('commit-tree', '-m', 'Lonely', 'main^{tree}') as ObjectId
    fixture.git('update-ref', 'refs/tags/side', lonely)
    const repository = openTestRepository(fixture)
    await readAll(repository)
    assert.equal((await repository.commit(lonely, signal)).message, 'Lonely\n')
    const parent = fixture.git('commit-tree', '-m', 'Below', 'main^{tree}') as ObjectId
    fixture.git(
      'update-ref',
      'refs/heads/other/branch',
      fixture.git('commit-tree', '-p', parent, '-m', 'Above', 'main^{tree}'),
    )
    assert.equal((await repository.commit(parent, signal)).message, 'Below\n')
  },
)

/**
 * A process that reads everything with the cache of the test and prints a line before and after.
 * @param dies in which of its calls of the file system it kills itself
 */
function startReader(
  fixture: TestRepository,
  dies = 0,
): { readonly ready: Promise<void>; readonly ended: Promise<string> } {
  const remotes = new URL('../contract/git-remotes.ts', import.meta.url)
  const program = `
    import * as files from 'node:fs/promises'
    const { openTestRepository, headOf } = await import(${JSON.stringify(remotes.href)})
    const made = JSON.parse(process.argv[1])
    const { signal } = new AbortController()
    let calls = 0
    const counted = (work) => (...given) => {
      calls += 1
      if (calls === ${dies}) process.kill(process.pid, 'SIGKILL')
      return work(...given)
    }
    const fs = Object.fromEntries(Object.entries(files).map(([name, work]) => [name, typeof work === 'function' ? counted(work) : work]))
    console.log('ready')
    const repository = openTestRepository(made, { fs })
    const listed = await repository.list(await headOf(repository, signal), '', signal)
    const contents = await repository.read(listed.map((file) => file.id), signal)
    console.log('read ' + contents.size + ' in ' + calls + ' calls')`
  const { remote, cacheDir, environment } = fixture
  const child = spawn(
    ...boundCommand(process.execPath, [
      '--input-type=module-typescript',
      '-e',
      program,
      JSON.stringify({ remote, cacheDir, environment }),
    ]),
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let output = ''
  let onReady = () => {}
  const ready = new Promise<void>((resolve) => {
    onReady = resolve
  })
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
    onReady()
  })
  const ended = new Promise<string>((resolve) =>
    child.on('close', () => resolve(output.trim().split('\n').at(-1) ?? '')),
  )
  return { ready, ended }
}

withRepository(
  'twelve processes killed in the middle leave a clone that reads',
  async (fixture) => {
    grow(fixture, 1200)
    const callsOf = async (): Promise<number> =>
      Number(/ in (\d+) calls$/.exec(await startReader(fixture).ended)?.[1])
    const fresh = await callsOf()
    grow(fixture, 100, 1)
    const more = await callsOf()
    for (let turn = 0; turn < 12; turn++) {
      const isFresh = turn % 4 === 3
      if (isFresh) rmSync(fixture.cacheDir, { recursive: true, force: true })
      else grow(fixture, 100, turn + 2)
      const part = ((turn * 5) % 12) / 12
      const reader = startReader(fixture, 1 + Math.floor((isFresh ? fresh : more) * part))
      assert.equal(await reader.ended, 'ready', `killed after ${part} of it`)
      if (turn % 6 !== 5) continue
      assert.match(await readAll(openTestRepository(fixture)), /many\/19\//)
      assertSound(fixture)
    }
  },
)

withRepository(
  'processes that share a clone, one of them damaging it, all read everything',
  async (fixture) => {
    grow(fixture, 300)
    const readers = [startReader(fixture), startReader(fixture), startReader(fixture)]
    await Promise.all(readers.map((reader) => reader.ready))
    const here = openTestRepository(fixture)
    for (let turn = 0; turn < 5; turn++) {
      await readAll(here)
      damages['a pack cut short']?.(fixture)
    }
    const outputs = await Promise.all(readers.map((reader) => reader.ended))
    const count = new Set(
      (await readAll(here)).split('\n').filter((line) => line.startsWith('many/')),
    ).size
    assert.equal(count, 300)
    for (const output of outputs) assert.match(output, /^read 30[0-9] /)
  },
)
