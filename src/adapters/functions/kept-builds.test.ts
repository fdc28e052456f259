import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Build, BuildAnswer } from '../../sources/programs/package-builder.ts'
import { KeptBuilds } from './kept-builds.ts'
import { PackageBuilds } from './package-builds.ts'

const signal = new AbortController().signal
const CONFIG = 'kind: ConfigMap\ndata: {color: teal}\n'

/** Processes that have one folder of builds, with a `kubectl` that counts its runs. */
class Processes {
  readonly folder: string
  private readonly program: string
  private readonly log: string

  constructor(t: TestContext, printed = CONFIG) {
    const root = mkdtempSync(join(tmpdir(), 'backporch-test-'))
    t.after(() => rmSync(root, { recursive: true }))
    this.folder = join(root, 'cache', 'builds')
    this.program = join(root, 'kubectl')
    this.log = join(root, 'log')
    writeFileSync(this.log, '')
    this.install(printed)
  }

  install(printed: string): void {
    const lines = ['#!/bin/sh', `echo run >> ${this.log}`, "cat <<'END'", `${printed}END`, '']
    writeFileSync(this.program, lines.join('\n'))
    chmodSync(this.program, 0o755)
  }

  /** What one more process gets. */
  build(more: Partial<Build> = {}, kept = new KeptBuilds(this.folder, '1.0.0')) {
    const builds = new PackageBuilds({ allowed: [this.program], environment: {}, kept })
    return builds.build({ ...kustomization(CONFIG), ...more }, signal)
  }

  get runs(): number {
    return readFileSync(this.log, 'utf8').split('\n').length - 1
  }

  get files(): readonly string[] {
    return existsSync(this.folder)
      ? readdirSync(this.folder).map((name) => join(this.folder, name))
      : []
  }
}

function kustomization(text: string): Build {
  const content = new TextEncoder().encode(text)
  const files = [{ path: 'apps/web/web.yaml', mode: '100644', content } as const]
  return { tool: 'kustomize', folder: 'apps/web', command: [], files }
}

function textOf(answer: BuildAnswer): string {
  return 'text' in answer ? answer.text : JSON.stringify(answer.failure)
}

test('several processes share one build, and its file is readable only with the build input', async (t) => {
  const processes = new Processes(t)
  for (let each = 0; each < 3; each += 1) assert.equal(textOf(await processes.build()), CONFIG)
  assert.equal(processes.runs, 1)
  const [file = ''] = processes.files
  assert.equal(processes.files.length, 1)
  assert.deepEqual(
    [statSync(file).mode & 0o777, statSync(processes.folder).mode & 0o777],
    [0o600, 0o700],
  )
  assert.doesNotMatch(readFileSync(file, 'latin1'), /teal/)
})

test('another input, program or version causes a new build', async (t) => {
  const processes = new Processes(t)
  await processes.build()
  await processes.build(kustomization('kind: Other\n'))
  assert.equal(processes.runs, 2)
  await processes.build({}, new KeptBuilds(processes.folder, '1.0.1'))
  assert.equal(processes.runs, 3)
  processes.install('kind: Changed\n')
  assert.equal(textOf(await processes.build()), 'kind: Changed\n')
})

test('does not cache builds that read or print a Secret, nor failures', async (t) => {
  const processes = new Processes(t)
  await processes.build({ hasSecrets: true })
  await processes.build(kustomization('apiVersion: v1\nkind: Secret\n'))
  await processes.build(kustomization('secretGenerator: []\n'))
  processes.install('kind: Secret\n')
  await processes.build()
  assert.deepEqual([processes.runs, processes.files], [4, []])
  processes.install('END\nexit 1\n')
  assert.ok('failure' in (await processes.build()))
  assert.deepEqual(processes.files, [])
})

test('a truncated, changed or foreign cache file is ignored and replaced', async (t) => {
  const processes = new Processes(t)
  await processes.build()
  const [file = ''] = processes.files
  const whole = readFileSync(file)
  const changed = Buffer.from(whole)
  changed.writeUInt8(whole.readUInt8(whole.length - 1) ^ 1, whole.length - 1)
  for (const content of [whole.subarray(0, 20), whole.subarray(0, -1), changed, Buffer.alloc(0)]) {
    const before = processes.runs
    writeFileSync(file, content)
    assert.equal(textOf(await processes.build()), CONFIG)
    assert.equal(textOf(await processes.build()), CONFIG)
    assert.equal(processes.runs, before + 1)
  }
})

test('the cache keeps the most recently used files within its limit', async (t) => {
  const processes = new Processes(t)
  const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second))
  const size = 28 + CONFIG.length
  await processes.build()
  const [first = ''] = processes.files
  await processes.build(kustomization('kind: Second\n'))
  const second = processes.files.find((file) => file !== first) ?? ''
  utimesSync(first, at(1), at(1))
  utimesSync(second, at(2), at(2))
  await processes.build()
  await processes.build(
    kustomization('kind: Third\n'),
    new KeptBuilds(processes.folder, '1.0.0', 2 * size),
  )
  assert.deepEqual(
    [existsSync(first), existsSync(second), processes.files.length],
    [true, false, 2],
  )
})

test('an unwritable cache folder costs a later process only a rebuild', async (t) => {
  const processes = new Processes(t)
  const kept = new KeptBuilds('/dev/null/builds', '1.0.0')
  assert.equal(textOf(await processes.build({}, kept)), CONFIG)
  assert.equal(textOf(await processes.build({}, kept)), CONFIG)
  assert.equal(processes.runs, 2)
})
