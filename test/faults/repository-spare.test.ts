/** A cache folder that takes no data: the repository is read through a temporary one, which is said once, and nothing is blind. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import * as nodeFiles from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { FileOperations } from '@backporch/git-store/objects'
import type { PackageRepository } from '@backporch/git-store/package-repository'
import {
  expectFailure,
  headOf,
  makeTestRepository,
  openTestRepository,
  type RemoteKind,
  type TestRepository,
} from '../contract/git-remotes.ts'

const { signal } = new AbortController()

const withRepository = (
  name: string,
  body: (fixture: TestRepository) => Promise<void>,
  kind: RemoteKind = 'file',
) =>
  test(name, async () => {
    const fixture = await makeTestRepository(kind)
    try {
      await body(fixture)
    } finally {
      await fixture.close()
    }
  })

/** Everything of main, as `path text`. */
async function readAll(repository: PackageRepository): Promise<string> {
  const files = await repository.list(await headOf(repository, signal), '', signal)
  const ids = files.map((file) => file.id)
  const contents = await repository.read(ids, signal)
  return files
    .map((file) => `${file.path} ${Buffer.from(contents.get(file.id) ?? []).toString()}`)
    .join('\n')
}

function isBelow(folder: string, path: unknown): boolean {
  return String(path).startsWith(`${folder}/`) || String(path) === folder
}

type Operation = 'open' | 'rename' | 'mkdir'

/** A file system of which some folders refuse an operation. */
class FailingFolders {
  refused: readonly string[]
  readonly files: FileOperations

  constructor(refused: readonly string[], code: string, operation: Operation) {
    this.refused = refused
    const check = (called: Operation, path: unknown): void => {
      if (called === operation && this.refused.some((folder) => isBelow(folder, path)))
        throw Object.assign(new Error(code), { code })
    }
    this.files = {
      ...nodeFiles,
      open: async (...args) => {
        check('open', args[0])
        return await nodeFiles.open(...args)
      },
      rename: async (from, to) => {
        check('rename', to)
        await nodeFiles.rename(from, to)
      },
      mkdir: (async (...args: Parameters<typeof nodeFiles.mkdir>) => {
        check('mkdir', args[0])
        return await nodeFiles.mkdir(...args)
      }) as typeof nodeFiles.mkdir,
    }
  }
}

const REFUSALS: readonly (readonly [code: string, operation: Operation])[] = [
  ['ENOSPC', 'open'],
  ['EDQUOT', 'open'],
  ['EROFS', 'mkdir'],
  ['EACCES', 'mkdir'],
  ['ENOENT', 'mkdir'],
  ['EIO', 'rename'],
]

for (const kind of ['file', 'local bare'] as const) {
  for (const [code, operation] of REFUSALS) {
    if (kind === 'local bare' && operation === 'rename') continue
    withRepository(
      `${kind}: a cache folder that answers ${code} is left for a temporary one, and used again once it takes data`,
      async (fixture) => {
        const { cacheDir } = fixture
        const disk = new FailingFolders([cacheDir], code, operation)
        const notes: string[] = []
        const note = (text: string): number => notes.push(text)
        const repository = openTestRepository(fixture, { fs: disk.files }, note)
        for (let turn = 0; turn < 3; turn += 1)
          assert.match(await readAll(repository), /README\.md # Packages/)
        assert.match(
          await readAll(openTestRepository(fixture, { fs: disk.files }, note)),
          /README\.md # Packages/,
        )
        assert.equal(notes.length, 1, notes.join('\n'))
        assert.ok(
          notes[0]?.includes(
            `the cache folder ${cacheDir} cannot be written (the file system answered ${code}`,
          ),
          notes[0],
        )
        disk.refused = []
        for (let turn = 0; turn < 5; turn += 1)
          assert.match(await readAll(repository), /README\.md # Packages/)
        assert.deepEqual(notes.slice(1), [
          `the cache folder ${cacheDir} can be written again, and is used`,
        ])
        assert.ok(readdirSync(cacheDir).length > 0)
      },
      kind,
    )
  }
}

withRepository('a file in place of the cache folder, or of one above it', async (fixture) => {
  const file = join(fixture.root, 'file')
  writeFileSync(file, '')
  for (const cacheDir of [file, join(file, 'below')]) {
    const notes: string[] = []
    assert.match(
      await readAll(openTestRepository(fixture, { cacheDir }, (text) => notes.push(text))),
      /README\.md # Packages/,
    )
    assert.match(
      notes.join('\n'),
      /cannot be written \(the file system answered E(?:EXIST|NOTDIR)\)/,
    )
  }
})

withRepository(
  'neither the cache folder nor a temporary one takes data: the failure names both, and the next turn tries again',
  async (fixture) => {
    const { cacheDir } = fixture
    const disk = new FailingFolders([cacheDir, tmpdir()], 'ENOSPC', 'open')
    const notes: string[] = []
    const repository = openTestRepository(fixture, { fs: disk.files }, (text) => notes.push(text))
    const { where, why, remedy } = await expectFailure(readAll(repository), 'BP4008')
    assert.equal(where, `${cacheDir} and ${tmpdir()}`)
    assert.equal(why.match(/ENOSPC/g)?.length, 2, why)
    assert.match(remedy, /XDG_CACHE_HOME or TMPDIR/)
    disk.refused = []
    assert.match(await readAll(repository), /README\.md # Packages/)
  },
)

withRepository(
  'a temporary folder that cannot be made is named beside the cache folder',
  async (fixture) => {
    const disk = new FailingFolders([fixture.cacheDir], 'EROFS', 'mkdir')
    const before = process.env['TMPDIR']
    process.env['TMPDIR'] = join(fixture.root, 'missing')
    try {
      const { where, why } = await expectFailure(
        readAll(openTestRepository(fixture, { fs: disk.files })),
        'BP4008',
      )
      assert.equal(where, `${fixture.cacheDir} and ${join(fixture.root, 'missing')}`)
      assert.match(why, /EROFS.*ENOENT/)
    } finally {
      if (before === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = before
    }
  },
)

withRepository(
  'a disk that fills up in the middle of a pack: it is fetched again elsewhere, and leaves no torn file',
  async (fixture) => {
    let left = 400
    const { cacheDir } = fixture
    const fs: FileOperations = {
      ...nodeFiles,
      open: async (...args) => {
        const handle = await nodeFiles.open(...args)
        const whole = handle.writeFile.bind(handle)
        handle.writeFile = async (content: string | Uint8Array) => {
          const bytes = Buffer.from(content)
          if (!isBelow(cacheDir, args[0])) return await whole(bytes)
          left -= bytes.length
          if (left >= 0) return await whole(bytes)
          await whole(bytes.subarray(0, 10))
          throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
        }
        return handle
      },
    }
    const repository = openTestRepository(fixture, { fs })
    assert.match(await readAll(repository), /README\.md # Packages/)
    const names = readdirSync(cacheDir, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    )
    assert.deepEqual(names.map((each) => each.name).sort(), ['HEAD', 'config'])
    left = 10_000_000
    for (let turn = 0; turn < 3; turn += 1)
      assert.match(await readAll(repository), /README\.md # Packages/)
    assert.ok(
      readdirSync(cacheDir, { recursive: true, encoding: 'utf8' }).some((name) =>
        name.endsWith('.pack'),
      ),
    )
  },
)

withRepository('a cache folder that is deleted while it is used is made again', async (fixture) => {
  const notes: string[] = []
  const repository = openTestRepository(fixture, {}, (text) => notes.push(text))
  await readAll(repository)
  rmSync(fixture.cacheDir, { recursive: true })
  mkdirSync(fixture.cacheDir)
  assert.match(await readAll(openTestRepository(fixture)), /README\.md # Packages/)
  assert.ok(existsSync(fixture.cacheDir))
  assert.deepEqual(notes, [])
})
