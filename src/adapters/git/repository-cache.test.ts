/** The clone is a cache: killed processes, full disks, damage and deletion cost time and nothing else. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import * as nodeFiles from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { expectFailure, headOf, makeTestRepository, openTestRepository, type TestRepository } from '../../../test/contract/git-remotes.ts'
import type { ObjectId } from '../../package/object-id.ts'
import type { PackageRepository } from '../../ports/package-repository.ts'
import type { FileOperations } from './objects/atomic-fs.ts'

const signal = AbortSignal.timeout(240_000)

const withCreated = (name: string, body: (created: TestRepository) => Promise<void>) =>
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
  return files.map((file) => `${file.path} ${Buffer.from(contents.get(file.id) ?? []).toString()}`).join('\n')
}

/** Folder of the clone in use. */
function cloneOf(created: TestRepository): string {
  const [key = ''] = readdirSync(created.cacheDir)
  const [highest = ''] = readdirSync(join(created.cacheDir, key)).sort().reverse()
  return join(created.cacheDir, key, highest)
}

function packFiles(created: TestRepository, ending: string): readonly string[] {
  const folder = join(cloneOf(created), 'objects/pack')
  const names = readdirSync(folder).filter((name) => name.endsWith(ending))
  return names.map((name) => join(folder, name))
}

/** More files, so that a fetch takes long enough to be killed in. */
function grow(created: TestRepository, count: number, turn = 0): void {
  const lines = ['commit refs/heads/main', 'committer Ada <ada@example.com> 1700000100 +0000', 'data 4', 'more', 'from refs/heads/main^0']
  const files = Array.from({ length: count }, (_each, at) => {
    const text = `number: ${at}\nturn: ${turn}\n${'x'.repeat(at % 300)}\n`
    return `M 100644 inline many/${at % 20}/${turn}-${at}.yaml\ndata ${text.length}\n${text}`
  })
  const input = [...lines, ...files, ''].join('\n')
  execFileSync('git', ['fast-import', '--quiet'], { cwd: created.gitFolder, env: created.environment, input })
}

/** Git itself finds no fault with any pack of the clone. */
function assertSound(created: TestRepository): void {
  const options = { cwd: cloneOf(created), env: created.environment, encoding: 'utf8', stdio: 'pipe' } as const
  assert.equal(execFileSync('git', ['verify-pack', ...packFiles(created, '.idx')], options), '')
}

const GARBAGE = 'a tips file of garbage'
const damages: Readonly<Record<string, (created: TestRepository) => void>> = {
  'a flipped bit in a pack': (created) => {
    for (const path of packFiles(created, '.pack')) {
      const bytes = readFileSync(path)
      bytes.writeUInt8(bytes.readUInt8(200) ^ 4, 200)
      writeFileSync(path, bytes)
    }
  },
  'a pack cut short': (created) => {
    for (const path of packFiles(created, '.pack')) truncateSync(path, 300)
  },
  'an empty pack file': (created) => {
    for (const path of packFiles(created, '.pack')) truncateSync(path, 0)
  },
  'an index of zeros': (created) => {
    for (const path of packFiles(created, '.idx')) writeFileSync(path, Buffer.alloc(readFileSync(path).length))
  },
  'an index with wrong offsets': (created) => {
    for (const path of packFiles(created, '.idx')) {
      const bytes = readFileSync(path)
      const count = bytes.readUInt32BE(8 + 255 * 4)
      const offsets = 8 + 1024 + count * 24
      bytes.copy(bytes, offsets, offsets + 4, offsets + count * 4)
      writeFileSync(path, bytes)
    }
  },
  'packs that are gone': (created) => {
    for (const ending of ['.pack', '.idx']) for (const path of packFiles(created, ending)) rmSync(path)
  },
  'an index without its pack': (created) => {
    for (const path of packFiles(created, '.pack')) rmSync(path)
  },
  [GARBAGE]: (created) => writeFileSync(join(cloneOf(created), 'tips'), '\0\0\0'),
  'a tips file that promises what is not there': (created) => {
    for (const ending of ['.pack', '.idx']) for (const path of packFiles(created, ending)) rmSync(path)
    writeFileSync(join(cloneOf(created), 'tips'), `${created.git('rev-parse', 'main')} refs/remotes/origin/main\n`)
  },
  'the whole folder deleted': (created) => rmSync(created.cacheDir, { recursive: true }),
}

for (const [name, damage] of Object.entries(damages)) {
  withCreated(`${name}: read again from the remote, in the same process and in the next`, async (created) => {
    const running = openTestRepository(created)
    const expected = await readAll(running)
    damage(created)
    assert.equal(await readAll(openTestRepository(created)), expected)
    assert.equal(await readAll(running), expected)
    // Nothing had to be fetched after that one, so nobody wrote the file anew.
    if (name !== GARBAGE) assertSound(created)
  })
}

withCreated('a clone that is damaged again and again ends with a failure, not in a circle', async (created) => {
  const head = await headOf(openTestRepository(created), signal)
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
  await expectFailure(openTestRepository(created, { fs }).commit(head, signal), 'BP4006')
  assert.ok(packs >= 1 && packs <= 2, `${packs} packs`)
})

withCreated('a remote that lacks an object says so', async (created) => {
  const blob = created.git('rev-parse', 'main:README.md')
  rmSync(join(created.gitFolder, 'objects', blob.slice(0, 2), blob.slice(2)))
  await expectFailure(readAll(openTestRepository(created)), 'BP4006')
})

withCreated('a full disk is told, and reading goes on once there is room', async (created) => {
  let full = true
  const deny = (code: string) => Object.assign(new Error(code), { code })
  for (const [code, operation] of [
    ['ENOSPC', 'open'],
    ['EROFS', 'mkdir'],
    ['EMFILE', 'open'],
    ['EIO', 'rename'],
  ] as const) {
    const fs: FileOperations = {
      ...nodeFiles,
      open: async (...args) => {
        if (full && operation === 'open') throw deny(code)
        return await nodeFiles.open(...args)
      },
      rename: async (...args) => {
        if (full && operation === 'rename') throw deny(code)
        await nodeFiles.rename(...args)
      },
      mkdir: (async (...args: Parameters<typeof nodeFiles.mkdir>) => {
        if (full && operation === 'mkdir') throw deny(code)
        return await nodeFiles.mkdir(...args)
      }) as typeof nodeFiles.mkdir,
    }
    full = true
    const repository = openTestRepository(created, { fs, cacheDir: join(created.root, `cache-${code}`) })
    const { why } = await expectFailure(readAll(repository), 'BP4008')
    assert.match(why, new RegExp(code))
    full = false
    assert.match(await readAll(repository), /README\.md # Packages/)
  }
})

withCreated('a machine that can open no more files is told so, and the clone is kept', async (created) => {
  await readAll(openTestRepository(created))
  const fs: FileOperations = {
    ...nodeFiles,
    readFile: (async () => {
      throw Object.assign(new Error('EMFILE'), { code: 'EMFILE' })
    }) as typeof nodeFiles.readFile,
  }
  const clone = cloneOf(created)
  await expectFailure(readAll(openTestRepository(created, { fs })), 'BP4008')
  assert.equal(cloneOf(created), clone)
})

withCreated('a disk that fills up in the middle of a file leaves no torn file', async (created) => {
  let left = 400
  const fs: FileOperations = {
    ...nodeFiles,
    open: async (...args) => {
      const handle = await nodeFiles.open(...args)
      const whole = handle.writeFile.bind(handle)
      handle.writeFile = async (content: string | Uint8Array) => {
        const bytes = Buffer.from(content)
        left -= bytes.length
        if (left >= 0) return await whole(bytes)
        await whole(bytes.subarray(0, 10))
        throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
      }
      return handle
    },
  }
  const repository = openTestRepository(created, { fs })
  await expectFailure(readAll(repository), 'BP4008')
  const names = readdirSync(created.cacheDir, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  assert.deepEqual(names.map((each) => each.name).sort(), ['HEAD', 'config'])
  left = 1_000_000
  assert.match(await readAll(repository), /README\.md # Packages/)
})

withCreated('a new commit costs one object, also beside more drafts than a request can name', async (created) => {
  const drafts = Array.from(
    { length: 300 },
    (_each, at) =>
      `commit refs/heads/drafts/apps/web/d-${at}\ncommitter A <a@b> ${at} +0000\ndata 1\nx\nM 100644 inline a\ndata 1\n${at % 10}\n`,
  )
  execFileSync('git', ['fast-import', '--quiet'], { cwd: created.gitFolder, env: created.environment, input: drafts.join('\n') })
  const repository = openTestRepository(created)
  await readAll(repository)
  const before = new Set(packFiles(created, '.pack'))
  created.git('update-ref', 'refs/heads/main', created.git('commit-tree', '-p', 'main', '-m', 'Next', 'main^{tree}'))
  await readAll(repository)
  const added = packFiles(created, '.pack').filter((path) => !before.has(path))
  assert.deepEqual(
    added.map((path) => readFileSync(path).readUInt32BE(8)),
    [1],
  )
})

withCreated('an object that is only in an abandoned history is found as long as some ref reaches it', async (created) => {
  const lonely = created.git('commit-tree', '-m', 'Lonely', 'main^{tree}') as ObjectId
  created.git('update-ref', 'refs/tags/side', lonely)
  const repository = openTestRepository(created)
  await readAll(repository)
  assert.equal((await repository.commit(lonely, signal)).message, 'Lonely\n')
  const parent = created.git('commit-tree', '-m', 'Below', 'main^{tree}') as ObjectId
  created.git('update-ref', 'refs/heads/other/branch', created.git('commit-tree', '-p', parent, '-m', 'Above', 'main^{tree}'))
  assert.equal((await repository.commit(parent, signal)).message, 'Below\n')
})

/** A process that reads everything with the cache of the test and prints a line before and after. */
function startReader(created: TestRepository): { readonly ready: Promise<void>; readonly ended: Promise<string>; kill(): void } {
  const fixture = new URL('../../../test/contract/git-remotes.ts', import.meta.url)
  const program = `
    const { openTestRepository, headOf } = await import(${JSON.stringify(fixture.href)})
    const made = JSON.parse(process.argv[1])
    const signal = AbortSignal.timeout(100000)
    console.log('ready')
    const repository = openTestRepository(made)
    const files = await repository.list(await headOf(repository, signal), '', signal)
    const contents = await repository.read(files.map((file) => file.id), signal)
    console.log('read ' + contents.size)`
  const { remote, cacheDir, environment } = created
  const child = spawn(
    process.execPath,
    ['--input-type=module-typescript', '-e', program, JSON.stringify({ remote, cacheDir, environment })],
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
  const ended = new Promise<string>((resolve) => child.on('close', () => resolve(output.trim().split('\n').at(-1) ?? '')))
  return { ready, ended, kill: () => child.kill('SIGKILL') }
}

withCreated('twelve processes killed in the middle leave a clone that reads', async (created) => {
  grow(created, 1200)
  let cut = 0
  for (let turn = 0; turn < 12; turn++) {
    if (turn % 5 === 4) rmSync(created.cacheDir, { recursive: true, force: true })
    if (turn % 3 === 2) grow(created, 100, turn)
    const reader = startReader(created)
    await reader.ready
    await new Promise((resolve) => setTimeout(resolve, (turn * 61) % 290))
    reader.kill()
    if ((await reader.ended) === 'ready') cut += 1
    if (turn % 6 !== 5) continue
    assert.match(await readAll(openTestRepository(created)), /many\/19\//)
    assertSound(created)
  }
  assert.ok(cut >= 4, `only ${cut} processes were killed before their end`)
})

withCreated('processes that share a clone, one of them damaging it, all read everything', async (created) => {
  grow(created, 300)
  const readers = [startReader(created), startReader(created), startReader(created)]
  await Promise.all(readers.map((reader) => reader.ready))
  const here = openTestRepository(created)
  for (let turn = 0; turn < 5; turn++) {
    await readAll(here)
    damages['a pack cut short']?.(created)
  }
  const outputs = await Promise.all(readers.map((reader) => reader.ended))
  const count = new Set((await readAll(here)).split('\n').filter((line) => line.startsWith('many/'))).size
  assert.equal(count, 300)
  for (const output of outputs) assert.match(output, /^read 30[0-9]$/)
})
