/** Files that unfold to gigabytes: the package that has one says so, the others go on, and the process stays small. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createWriteStream, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { before, suite, test } from 'node:test'
import { createDeflate } from 'node:zlib'
import { openRepository } from '@backporch/git-store/repository'
import { findPackages } from '@backporch/kpt/package'
import { Failure } from '@backporch/kyaml/failure'
import {
  readAhead,
  readFolder,
  readRepository,
} from '../../src/reconcile/repository/repository-view.ts'
import { readTexts } from '../../src/sources/commit/commit-files.ts'
import { startGitHttpBackend } from '../contract/git-http-backend.ts'
import { gitTestEnvironment, temporaryFolder } from '../contract/git-remotes.ts'
import { runProgram } from '../e2e/run-program.ts'
import { PROGRAM } from '../program.ts'

const MEBIBYTE = 1024 * 1024
const LARGE = 1024 * MEBIBYTE
/** Backporch itself takes less than half of it; the file alone would be more than twice as much. */
const MOST_RESIDENT = 400 * MEBIBYTE

const CONFIG = (name: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: shop}\ndata: {color: blue}\n`
const KPTFILE = (name: string): string =>
  `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: ${name}}\n`

suite('a repository of a few megabytes with files that unfold to gigabytes', () => {
  const root = temporaryFolder()
  const folder = join(root, 'deploy')
  const environment = gitTestEnvironment(root)
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: folder, env: environment, encoding: 'utf8' }).trim()

  /** Adds a file of main's next commit by the id of its blob. */
  const add = (path: string, blob: string): void =>
    void git('update-index', '--add', '--cacheinfo', `100644,${blob},${path}`)
  const addText = (path: string, text: string): void => {
    writeFileSync(join(root, 'text'), text)
    add(path, git('hash-object', '-w', join(root, 'text')))
  }

  before(async () => {
    mkdirSync(folder)
    git('init', '-q', '-b', 'main')
    git('config', 'uploadpack.allowFilter', 'true')
    const large = await zeros(join(folder, '.git/objects'), LARGE)
    // A manifest that nobody reads to its end, and a file that is none.
    for (const name of ['web', 'huge', 'beside', 'many'])
      addText(`apps/${name}/Kptfile`, KPTFILE(name))
    addText('apps/web/config.yaml', CONFIG('web'))
    addText('apps/beside/config.yaml', CONFIG('beside'))
    add('apps/beside/disk.img', large)
    add('apps/huge/huge.yaml', large)
    for (let file = 0; file < 30; file += 1)
      addText(`apps/many/${file}.yaml`, `${'#'.repeat(2 * MEBIBYTE)}\n# ${file}\n`)
    git('commit', '-q', '-m', 'Large')
    git('repack', '-q', '-a', '-d')
  })

  const render = async (
    remote: string,
    program: readonly string[] = [],
  ): Promise<{ stdout: string; stderr: string; resident: number }> => {
    const out = join(root, 'resident')
    const report = `import { writeFileSync } from 'node:fs'; process.on('exit', () => writeFileSync(${JSON.stringify(out)}, String(process.resourceUsage().maxRSS)))`
    const args = [
      '--import',
      `data:text/javascript,${encodeURIComponent(report)}`,
      PROGRAM,
      'render',
      '--repo',
      remote,
      ...program,
    ]
    const env = {
      ...environment,
      XDG_CACHE_HOME: join(root, 'cache'),
      XDG_STATE_HOME: join(root, 'state'),
    }
    const { stdout, stderr } = await runProgram(process.execPath, args, { cwd: root, env })
    return { stdout, stderr, resident: Number(readFileSync(out, 'utf8')) * 1024 }
  }

  const assertBounded = ({
    stdout,
    stderr,
    resident,
  }: Awaited<ReturnType<typeof render>>): void => {
    assert.match(stdout, /apps\/web {2}.*1 resource/, stderr)
    assert.match(stdout, /apps\/beside {2}.*1 resource/, 'a file that is no manifest is not read')
    assert.match(stderr, /BP1111[^\n]*\n *where: apps\/huge\/huge\.yaml\n *why: it is .*10 MiB/)
    assert.match(
      stderr,
      /BP1111[^\n]*\n *where: apps\/many\n *why: together they are larger than 32 MiB/,
    )
    assert.ok(resident < MOST_RESIDENT, `${Math.round(resident / MEBIBYTE)} MiB resident`)
  }

  test('is bounded when read in place', async () => assertBounded(await render(folder)))

  test('is bounded when fetched from file://', async () =>
    assertBounded(await render(`file://${folder}`)))

  test('is bounded when fetched over http, where sizes are unknown in advance', async () => {
    const backend = await startGitHttpBackend({ root, environment })
    try {
      assertBounded(await render(`${backend.url}/deploy/.git`))
    } finally {
      await backend.close()
    }
  })

  test('a partial clone asks its promisor remote and is bounded too', async () => {
    git(
      'clone',
      '-q',
      '--bare',
      '--filter=blob:none',
      `file://${folder}`,
      join(root, 'partial.git'),
    )
    assertBounded(await render(join(root, 'partial.git')))
  })

  test('refuses the last packages of a full turn, regardless of the order of reads', async () => {
    const names = Array.from({ length: 10 }, (_, number) => `p${number}`)
    git('checkout', '-q', '--orphan', 'fleet')
    git('read-tree', '--empty')
    const medium = '#'.repeat(8 * MEBIBYTE)
    for (const name of names) {
      addText(`fleet/${name}/Kptfile`, KPTFILE(name))
      for (const file of ['a', 'b']) addText(`fleet/${name}/${file}.yaml`, medium)
    }
    git('commit', '-q', '-m', 'Fleet')
    const repository = openRepository({
      remote: folder,
      cacheDir: join(root, 'cache'),
      environment,
    })
    const { signal } = new AbortController()
    for (const order of [names, names.toReversed()]) {
      const view = await readRepository(repository, 'fleet', signal)
      await readAhead(view, findPackages(view.tree), [], signal)
      const refused: string[] = []
      for (const name of order) {
        const read = await readFolder(view, `fleet/${name}`, signal).catch(
          (thrown: unknown) => thrown,
        )
        if (!(read instanceof Error)) continue
        assert.match(String(read), /larger than 128 MiB, which is what one turn reads/)
        refused.push(name)
      }
      assert.deepEqual(refused.sort(), ['p7', 'p8', 'p9'])
    }
  })

  test('reports when the process lacks memory for the declared file sizes', async () => {
    const repository = openRepository({
      remote: folder,
      cacheDir: join(root, 'cache'),
      environment,
    })
    const { signal } = new AbortController()
    const view = await readRepository(repository, 'main', signal)
    await assert.rejects(readFolder({ ...view, base: view.base }, 'apps/huge', signal), /10 MiB/)
    addText('numbers/Kptfile', KPTFILE('numbers'))
    addText('numbers/numbers.yaml', `${CONFIG('numbers')}list:\n${'- 1\n'.repeat(100_000)}`)
    git('commit', '-q', '-m', 'Numbers')
    const readIn = async (memory: number): Promise<readonly string[]> => {
      const limited = openRepository({
        remote: folder,
        cacheDir: join(root, 'cache'),
        environment,
        memory: () => memory * MEBIBYTE,
      })
      const numbers = await readRepository(limited, 'fleet', signal)
      const left: string[] = []
      const files = numbers.tree.filter(({ path }) => path.startsWith('numbers/'))
      const texts = await readTexts(limited, files, signal, (path) => left.push(path))
      assert.deepEqual([...texts.keys(), ...left].sort(), files.map(({ path }) => path).sort())
      const read = await readFolder(numbers, 'numbers', signal).catch((thrown: unknown) => thrown)
      return [
        ...left,
        ...(read instanceof Failure ? [`${read.code} ${read.where}: ${read.why}`] : []),
      ]
    }
    const why =
      'what they declare takes about 37 MiB of memory, and the process does not have that left'
    assert.deepEqual(await readIn(50), [])
    assert.deepEqual(await readIn(30), [`BP1111 numbers: ${why}`], 'as texts they find room')
    assert.deepEqual(
      await readIn(20),
      ['numbers/numbers.yaml', `BP1111 numbers: ${why}`],
      'the largest text is left out',
    )
  })
})

/** A loose blob of zeros, written as a stream; its id. */
async function zeros(objects: string, bytes: number): Promise<string> {
  const part = Buffer.alloc(MEBIBYTE)
  const parts = function* (): Iterable<Buffer> {
    yield Buffer.from(`blob ${bytes}\0`)
    for (let written = 0; written < bytes; written += part.length) yield part
  }
  const hash = createHash('sha1')
  for (const each of parts()) hash.update(each)
  const id = hash.digest('hex')
  const path = join(objects, id.slice(0, 2), id.slice(2))
  mkdirSync(dirname(path), { recursive: true })
  await pipeline(
    Readable.from(parts()),
    createDeflate({ level: 1 }),
    createWriteStream(`${path}.new`),
  )
  renameSync(`${path}.new`, path)
  return id
}
