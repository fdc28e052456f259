/**
 * Originals that the Go module proxy serves at their release versions. They are built here and run beside ours; the module's own `go.sum` pins
 * what it is built from. All other recordings were made of originals that were built from their release tags.
 *
 * One process runs on all inputs (`batch.go`). Each original keeps nothing from one input to the next: exit codes and both streams were compared
 * with those of a process for each input. They differed only in addresses and in the order of Go's maps, as two such processes do.
 */
import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  buildOnce,
  findProgram,
  goBuild,
  goEnvironment,
  isExecutable,
} from '../programs/go-build.ts'

export interface ServedOriginal {
  readonly name: string
  readonly release: string
  /** As in a `go.sum`, so that nothing else is built under this version. */
  readonly sum: string
}

const MODULES = 'github.com/GoogleContainerTools/kpt-functions-catalog/functions/go/'
const BATCH = fileURLToPath(new URL('batch.go', import.meta.url))

export const SERVED_ORIGINALS: readonly ServedOriginal[] = [
  {
    name: 'apply-replacements',
    release: 'v0.1.1',
    sum: 'h1:fg4LOWPoFYsMzV6h29la7egu4LSAWgJjHN1dkSdmx/A=',
  },
  {
    name: 'apply-replacements',
    release: 'v0.1.6',
    sum: 'h1:X609J+iNkKtGE1P7OKHqF5hE5xV2Ch0F0UVSKTo6xgU=',
  },
  {
    name: 'apply-setters',
    release: 'v0.2.0',
    sum: 'h1:GhM9JLR+vW4/jPuL7bGVAEUsIIp5xhJKhm17wSyQZLY=',
  },
  {
    name: 'apply-setters',
    release: 'v0.3.0',
    sum: 'h1:UOKduHyuND5ZYcFCy9cmRDnAjRLYWQMGqml4IqBvdg0=',
  },
  {
    name: 'create-setters',
    release: 'v0.1.4',
    sum: 'h1:WLGZGaVqFF2FwxDKXil/9c4bhS2i4ft1bnWSkVMr20I=',
  },
  {
    name: 'search-replace',
    release: 'v0.2.4',
    sum: 'h1:YoE0bbOJFC16BSJj9wK3FAa22ZhQLptPlW+97bllBEU=',
  },
  {
    name: 'set-namespace',
    release: 'v0.3.1',
    sum: 'h1:gt9lhE6VqFhvfZdRGB8cHFFzEjLLF6kiWgwIXyGAYLc=',
  },
  {
    name: 'set-namespace',
    release: 'v0.4.1',
    sum: 'h1:4/PW8UQST7f6oBIA+vEOHeFFQYkX+FOWYwQyS7lZAVI=',
  },
  {
    name: 'set-namespace',
    release: 'v0.4.6',
    sum: 'h1:uCiJWrAebEv+cmMlo/CBILLqWLR0O9fWYNP7Jc7Bv+4=',
  },
  {
    name: 'upsert-resource',
    release: 'v0.2.4',
    sum: 'h1:Pfw8y/9SisXuTKQwanaJ478nL6bCFkwUrPQBInOqcbM=',
  },
]

/** In the folder `served/`: each original has a file of its own, so that several run side by side. */
export function testFileOf({ name, release }: ServedOriginal): string {
  return `${name}-${release}.kpt.test.ts`
}

interface Downloaded {
  readonly Dir: string
  readonly Sum: string
}

const run = promisify(execFile)

/**
 * The path of the program, which runs on one input or, with `batch.go`, on many: a cached build, else a new one.
 * @throws Error where there is no Go, the module is not served or is another one, or it does not build
 */
export async function buildOriginal({ name, release, sum }: ServedOriginal): Promise<string> {
  const go = await findProgram('go', process.env)
  if (go === undefined)
    throw new Error(`there is no go on the PATH to build ${name} ${release}: install Go`)
  const { stdout } = await run(go, ['mod', 'download', '-json', `${MODULES}${name}@${release}`], {
    env: goEnvironment(process.env, false),
  })
  const { Dir, Sum } = JSON.parse(stdout) as Downloaded
  if (Sum !== sum)
    throw new Error(`the module proxy serves another ${name} ${release}: ${Sum} instead of ${sum}`)
  const module = await mkdtemp(join(tmpdir(), 'backporch-original-'))
  try {
    await copySources(Dir, module)
    // Go runs the `init` of the last file last.
    await copyFile(BATCH, join(module, 'zz_batch.go'))
    const build = await goBuild(`original-${name}`, module, process.env, false, () => [
      'build',
      '-mod=readonly',
      '-buildvcs=false',
      '-trimpath',
      '-ldflags',
      '-s -w',
    ])
    if (await isExecutable(build.binary)) return build.binary
    const what = `${name} ${release} once, about 10 seconds on 2 cores`
    const outcome = await buildOnce(build, go, process.env, {
      what,
      report: (message) => process.stderr.write(`${message}\n`),
    })
    if (outcome.state === 'failed') throw new Error(outcome.why)
    return build.binary
  } finally {
    await rm(module, { recursive: true, force: true })
  }
}

/** What is compiled of a module, without its tests. Go's own copy is read-only, and Go takes no added file (`-overlay`) for it. */
async function copySources(from: string, to: string): Promise<void> {
  for (const file of await readdir(from, { recursive: true })) {
    if (!/(^|\/)go\.(mod|sum)$|\.go$/.test(file) || file.endsWith('_test.go')) continue
    await mkdir(dirname(join(to, file)), { recursive: true })
    await copyFile(join(from, file), join(to, file))
  }
}
