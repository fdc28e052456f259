/**
 * The step of both workflows that installs kpt, in an empty home and with a PATH that has none. The download is the kpt of this machine. Where that is
 * another build of the version, the script runs as a copy that has the checksum of this one.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { whyNoKpt } from '../kpt/find-kpt.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SCRIPT = readFileSync(join(ROOT, '.ci', 'install-kpt'), 'utf8')
const [, VERSION = ''] = /^version=(.+)$/m.exec(SCRIPT) ?? []
const [, CHECKSUM = ''] = /^checksum=([0-9a-f]{64})$/m.exec(SCRIPT) ?? []
const WORKFLOWS = ['ci', 'release'] as const
/** What the step, and kpt, may use: all of it is on a runner. */
const PROGRAMS = ['bash', 'cp', 'env', 'git', 'install', 'mktemp', 'rm', 'sha256sum'] as const

function stepsOf(workflow: (typeof WORKFLOWS)[number]): readonly string[] {
  const text = readFileSync(join(ROOT, '.github', 'workflows', `${workflow}.yml`), 'utf8')
  const { jobs } = parse(text) as { jobs: { [name: string]: { steps: { run?: string }[] } } }
  const { steps } =
    Object.values(jobs).find((job) => job.steps.some(({ run }) => run === '.ci/run')) ??
    assert.fail('nothing runs .ci/run')
  return steps.flatMap(({ run }) => run ?? [])
}

function installed(
  script: string,
  step: string,
  download: string,
): {
  readonly status: number | null
  readonly stderr: string
  readonly version: string | undefined
} {
  const home = mkdtempSync(join(tmpdir(), 'backporch-home-'))
  try {
    const [path, added] = [join(home, 'programs'), join(home, 'path')]
    mkdirSync(path)
    mkdirSync(join(home, '.ci'))
    writeFileSync(join(home, '.ci', 'install-kpt'), script, { mode: 0o755 })
    for (const name of PROGRAMS)
      symlinkSync(execFileSync('which', [name], { encoding: 'utf8' }).trim(), join(path, name))
    writeFileSync(
      join(path, 'curl'),
      `#!${path}/bash\nuntil [ "$1" = --output ]; do shift; done\n[[ "$3" == https://github.com/*/v${VERSION}/kpt_linux_amd64 ]] && cp '${download}' "$2"\n`,
      { mode: 0o755 },
    )
    const env = { HOME: home, PATH: path, GITHUB_PATH: added }
    const { status, stderr } = spawnSync('bash', ['-e', '-c', step], {
      cwd: home,
      env,
      encoding: 'utf8',
    })
    const nextPath = [existsSync(added) ? readFileSync(added, 'utf8').trim() : '', path].join(':')
    const kpt = spawnSync(join(path, 'bash'), ['-c', 'kpt version'], {
      env: { HOME: home, PATH: nextPath },
      encoding: 'utf8',
    })
    return { status, stderr, version: kpt.status === 0 ? kpt.stdout.trim() : undefined }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

for (const workflow of WORKFLOWS) {
  test(`${workflow}.yml installs kpt before the tests, verified by its checksum alone`, {
    skip: whyNoKpt(),
  }, () => {
    const steps = stepsOf(workflow)
    const step = steps.indexOf('.ci/install-kpt')
    assert.ok(step >= 0 && step < steps.indexOf('.ci/run'), steps.join(' | '))
    const other = installed(SCRIPT, steps[step] ?? '', join(ROOT, 'package.json'))
    assert.deepEqual([other.status, other.version], [1, undefined], other.stderr)
    assert.match(other.stderr, /checksum did NOT match/)

    const kpt = execFileSync('which', ['kpt'], { encoding: 'utf8' }).trim()
    assert.equal(
      execFileSync(kpt, ['version'], { encoding: 'utf8' }).trim(),
      VERSION,
      'the tests are held against the kpt that the script installs',
    )
    const built = createHash('sha256').update(readFileSync(kpt)).digest('hex')
    assert.deepEqual(installed(SCRIPT.replace(CHECKSUM, built), steps[step] ?? '', kpt), {
      status: 0,
      stderr: '',
      version: VERSION,
    })
  })
}
