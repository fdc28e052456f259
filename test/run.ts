/**
 * `npm test`: every tier, one closing line. A tier that cannot run here says `skipped` and why; in CI that is a failure,
 * because a test that did not run has shown nothing.
 *
 * node test/run.ts            everything
 * node test/run.ts src/krm    only files whose path contains one of the words
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { findAppliers } from './appliers/appliers.ts'
import { findArgo } from './argo/programs.ts'
import { startForRun } from './controlplane/start-for-run.ts'
import { findFlux } from './flux/find-flux.ts'
import { startGiteaForRun } from './gitea/start-for-run.ts'
import { findHelm } from './helm/find-helm.ts'
import { whyNoKpt } from './kpt/find-kpt.ts'
import { TEST_PROGRAM } from './program.ts'
import { findPrometheus } from './prometheus/find-prometheus.ts'
import { findSops } from './sops/find-sops.ts'

// Half of a short test's time is the reading of TypeScript: Node keeps what it made of it, for this run and the next.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'backporch-test-compile-cache')
// Programs in Go (kubectl, kpt, the servers) collect their garbage less often: a fifth less CPU for a short one, and there is memory enough.
process.env['GOGC'] ??= '400'

const root = fileURLToPath(new URL('..', import.meta.url))
const words = process.argv.slice(2)
const ci = process.env['CI'] !== undefined && process.env['CI'] !== '' && process.env['CI'] !== 'false'
const files = ['src', 'test', 'functions', 'bench']
  .flatMap(testFiles)
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))

interface Tier {
  readonly name: string
  readonly has: (file: string) => boolean
  /** Files at once, on two cores; who waits for a server leaves them to somebody else. */
  readonly width: number
  /** Why it cannot run here, or what to do when it is over. */
  readonly prepare: (files: readonly string[]) => Promise<NotRun | { readonly end: () => Promise<void> }>
}

interface NotRun {
  readonly why: string
  /** Another job of CI runs it: no failure. */
  readonly elsewhere?: boolean
}

const noPreparation = async (): Promise<{ end: () => Promise<void> }> => ({ end: async () => undefined })
const gitea = (file: string): boolean => file.endsWith('.gitea.test.ts') || file.startsWith('test/gitea/')
const flux = (file: string): boolean => file.endsWith('.flux.test.ts')
const argo = (file: string): boolean => file.endsWith('.argo.test.ts')
const prometheus = (file: string): boolean => file.endsWith('.prometheus.test.ts')
const helm = (file: string): boolean => file.endsWith('.helm.test.ts')
const sops = (file: string): boolean => file.endsWith('.sops.test.ts')
const live = (file: string): boolean =>
  !gitea(file) &&
  !flux(file) &&
  !argo(file) &&
  (file.endsWith('.live.test.ts') || file.startsWith('test/controlplane/') || file.startsWith('test/e2e/'))
const tiers: readonly Tier[] = [
  {
    name: 'unit',
    has: (file) => [live, gitea, prometheus, helm, sops, flux, argo].every((has) => !has(file)) && !file.endsWith('.kpt.test.ts'),
    width: 2,
    prepare: noPreparation,
  },
  {
    name: 'kpt',
    has: (file) => file.endsWith('.kpt.test.ts'),
    width: 2,
    prepare: async () => {
      const why = await whyNoKpt()
      return why ? { why } : { end: async () => undefined }
    },
  },
  {
    name: 'prometheus',
    has: prometheus,
    width: 2,
    prepare: async () => {
      const found = await findPrometheus({ report: (message) => console.log(message) })
      return found.state === 'unavailable' ? { why: found.why } : noPreparation()
    },
  },
  {
    name: 'helm',
    has: helm,
    width: 2,
    prepare: async () => {
      const found = await findHelm(process.env, (message) => console.log(message))
      return found.state === 'unavailable' ? { why: found.why } : noPreparation()
    },
  },
  {
    name: 'sops',
    has: sops,
    width: 1,
    prepare: async () => {
      const found = await findSops(process.env, (message) => console.log(message))
      return found.state === 'unavailable' ? { why: found.why } : noPreparation()
    },
  },
  { name: 'control plane', has: live, width: 3, prepare: prepareControlPlane },
  { name: 'gitea', has: gitea, width: 3, prepare: prepareGitea },
  { name: 'flux', has: flux, width: 1, prepare: prepareFlux },
  { name: 'argo', has: argo, width: 1, prepare: prepareArgo },
]

/** Each process reads and compiles most of `src/` anew, more than a second of CPU; and at the end of a tier both cores should have work. */
const FILES_IN_A_PROCESS = 30
/** Tests of these may share a process. */
const SHARING = ['src/', 'functions/', 'bench/', 'test/contract/', 'test/corpus/', 'test/forge/', 'test/golden/']
/** As it is loaded it changes its process, or starts a clock that would run while other files are tested. */
const FOR_ITSELF = /^process\.(?:env\[.*\] =|chdir)|^const \w+ = AbortSignal\.timeout\(/m
/** Short texts with long runs: they begin before files that are only longer. The run prints which files took longest. */
const SLOW = new Set([
  'test/argo/argo-builds.kpt.test.ts',
  'test/e2e/canary.gitea.test.ts',
  'test/e2e/chaos.gitea.test.ts',
  'test/e2e/controller-restart.live.test.ts',
  'test/e2e/outage.live.test.ts',
  'test/gitea/gitea-contract.test.ts',
  'test/hostile/command-faults.gitea.test.ts',
  'test/hostile/tenancy.test.ts',
  'test/property/adopt.property.test.ts',
  'test/property/known-turns.property.test.ts',
])
/** From so many files on it pays to bundle the program first. */
const MANY_FILES = 30
const scratch = mkdtempSync(join(tmpdir(), 'backporch-test-run-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
if (files.length >= MANY_FILES) {
  execFileSync(process.execPath, [join(root, '.ci', 'bundle.ts'), scratch], { stdio: ['ignore', 'ignore', 'inherit'] })
  process.env[TEST_PROGRAM] = join(scratch, 'backporch.mjs')
}

let passed = 0
let failed = 0
let skipped = 0
for (const tier of tiers) {
  const own = files.filter(tier.has)
  if (own.length === 0) continue
  const started = Date.now()
  const prepared = await tier.prepare(own)
  if ('why' in prepared) {
    const isFailure = ci && prepared.elsewhere !== true
    console.log(`tier ${tier.name}: skipped (${prepared.why})${isFailure ? ', which is a failure in CI' : ''}`)
    if (isFailure) failed += 1
    else skipped += own.length
    continue
  }
  const before = { passed, failed, skipped }
  const slowest = await runProcesses(processesOf(own, tier.width), tier.width)
  await prepared.end()
  const seconds = Math.round((Date.now() - started) / 1000)
  console.log(
    `tier ${tier.name}: ${passed - before.passed} passed, ${failed - before.failed} failed, ${skipped - before.skipped} skipped in ${own.length} files, ${seconds} s`,
  )
  if (slowest !== '') console.log(`  slowest: ${slowest}`)
}
if (passed + failed + skipped === 0) {
  console.log('no test was found')
  failed += 1
}
console.log(`${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`)
process.exitCode = failed === 0 ? 0 : 1
// A test that leaves a handle open must not keep the run from ending.
setTimeout(() => process.exit(), 2_000).unref()

/** A room's tests share a process with others; long ones, tests of the whole and of live servers have their own, and begin first. */
function processesOf(own: readonly string[], width: number): string[] {
  // Long files first: a tier should not end with one of them alone.
  const alone = own
    .filter((file) => !isShared(file))
    .sort((left, right) => Number(SLOW.has(right)) - Number(SLOW.has(left)) || sizeOf(right) - sizeOf(left))
  const shared = own.filter(isShared)
  const count = Math.min(shared.length, Math.max(width, Math.ceil(shared.length / FILES_IN_A_PROCESS)))
  const groups = Array.from({ length: count }, (_, index) => {
    const path = join(scratch, `files-${index + 1}.test.mjs`)
    // Every n-th file, so that no process gets all of a slow room.
    const files = shared.filter((_, position) => position % count === index)
    writeFileSync(path, files.map((file) => `import ${JSON.stringify(pathToFileURL(join(root, file)).href)}\n`).join(''))
    return path
  })
  return [...alone.map((file) => join(root, file)), ...groups]
}

function sizeOf(file: string): number {
  return statSync(join(root, file)).size
}

function isShared(file: string): boolean {
  return (
    SHARING.some((folder) => file.startsWith(folder)) &&
    !live(file) &&
    !gitea(file) &&
    !FOR_ITSELF.test(readFileSync(join(root, file), 'utf8'))
  )
}

/** @returns the files that took longest, for people: `test/a.test.ts 12 s, …`; empty where none took long */
function runProcesses(paths: readonly string[], width: number): Promise<string> {
  return new Promise((resolve) => {
    const seconds = new Map<string, number>()
    const stream = run({ files: paths, concurrency: width, cwd: root })
    stream.on('test:pass', (event) => {
      if (event.nesting === 0 && event.file !== undefined)
        seconds.set(event.file, (seconds.get(event.file) ?? 0) + event.details.duration_ms / 1_000)
      if (event.details.type === 'suite') return
      if (event.skip !== undefined || event.todo !== undefined) {
        // Whatever is skipped in CI is told by name: it has to have a tier of its own.
        if (ci) {
          failed += 1
          console.log(`skipped in CI: ${event.name} (${String(event.skip ?? event.todo)})`)
        } else skipped += 1
      } else passed += 1
    })
    stream.on('test:fail', (event) => {
      if (event.details.type !== 'suite') failed += 1
    })
    const report = stream.compose(new spec())
    const dots: string[] = []
    report.on('data', (chunk: Buffer) => dots.push(chunk.toString('utf8')))
    report.on('end', () => {
      const text = dots.join('')
      const failures = text.indexOf('failing tests:')
      if (failures !== -1) console.log(text.slice(text.lastIndexOf('\n', failures) + 1))
      const slow = [...seconds].filter(([, taken]) => taken >= 5).sort(([, left], [, right]) => right - left)
      resolve(
        slow
          .slice(0, 8)
          .map(([file, taken]) => `${relative(root, file)} ${Math.round(taken)} s`)
          .join(', '),
      )
    })
  })
}

async function prepareControlPlane(own: readonly string[] = []): Promise<{ why: string } | { end: () => Promise<void> }> {
  // Built ahead: no test should wait beside a compiler. Where it cannot be built the tests that need it say so.
  if (own.some((file) => file.includes('/appliers'))) await findAppliers({ report: (message) => console.log(message) })
  const started = await startForRun({ report: (message) => console.log(message) })
  if (started.state === 'unavailable') return { why: started.why }
  Object.assign(process.env, started.environment)
  return { end: () => started.stop() }
}

/** One Gitea for all; and one control plane, where a test of the whole line needs both. */
async function prepareGitea(own: readonly string[]): Promise<{ why: string } | { end: () => Promise<void> }> {
  const started = await startGiteaForRun({ report: (message) => console.log(message) })
  if (started.state === 'unavailable') return { why: started.why }
  Object.assign(process.env, started.environment)
  if (!own.some((file) => file.startsWith('test/e2e/'))) return { end: () => started.stop() }
  const plane = await prepareControlPlane()
  if ('why' in plane) await started.stop()
  return 'why' in plane ? plane : { end: async () => void (await Promise.all([started.stop(), plane.end()])) }
}

/** A run of everything does not build the controllers (docs/facts/flux-controllers-build.md): it runs these tests where they are built. */
async function prepareFlux(): Promise<NotRun | { end: () => Promise<void> }> {
  const build = words.length > 0
  const found = await findFlux(['source-controller', 'kustomize-controller', 'helm-controller'], {
    build,
    report: (message) => console.log(message),
  })
  return found.state === 'unavailable' ? { why: found.why, elsewhere: !build } : prepareGitea([])
}

/** The same with Argo CD's generation of manifests (docs/facts/argo-cd-sources.md). */
async function prepareArgo(): Promise<NotRun | { end: () => Promise<void> }> {
  const build = words.length > 0
  const found = await findArgo({ build })
  if (found.state === 'unavailable') return { why: found.why, elsewhere: !build }
  await findAppliers({ report: (message) => console.log(message) })
  return prepareGitea([])
}

function testFiles(folder: string): string[] {
  try {
    return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts') && !entry.parentPath.includes('node_modules'))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
      .sort()
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw thrown
  }
}
