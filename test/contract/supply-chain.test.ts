/** What a workflow runs and what it holds meanwhile: no tool of unknown content beside an identity, no credentials that nobody needs, no install script. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>> | string
  readonly steps: readonly Step[]
}

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const WORKFLOWS = join(ROOT, '.github', 'workflows')
/** Commands that take code from elsewhere and run it. */
const FETCHES =
  /\b(?:npx|npm (?:ci|i|install|exec|x|pack)|pnpm|yarn|pip3?|go (?:run|install|get)|curl|wget|apt(?:-get)?|docker|gh extension)\b/

/** `job: what is wrong`. */
function problemsOf({ permissions = {}, jobs }: Workflow): readonly string[] {
  return Object.entries(jobs).flatMap(([name, job]) => {
    const held = typeof job.permissions === 'object' ? job.permissions : permissions
    const isIdentified = job.permissions === 'write-all' || held['id-token'] === 'write'
    const pushes = job.steps.some(({ run = '' }) => /\bgit push\b/.test(run))
    const problems = job.steps.flatMap(({ uses = '', run = '', with: inputs = {} }) => [
      ...(uses.startsWith('actions/checkout@') && inputs['persist-credentials'] !== false && !pushes
        ? ['keeps credentials']
        : []),
      ...(uses.startsWith('actions/setup-go@') &&
      !/^\d+\.\d+\.\d+$/.test(String(inputs['go-version']))
        ? ['takes any Go']
        : []),
      ...(isIdentified && FETCHES.test(run) ? [`fetches a tool: ${FETCHES.exec(run)?.[0]}`] : []),
      ...(isIdentified && uses.startsWith('./') ? ['runs code of the repository'] : []),
    ])
    // What another job hands over is run after a check of its hash.
    const unpacked = job.steps.findIndex(({ run = '' }) => /\btar -x\S* npm-/.test(run))
    const isChecked =
      /^echo '[0-9a-f]{128} {2}npm-\d+\.\d+\.\d+\.tgz' \| sha512sum --check --strict$/m.test(
        job.steps[unpacked]?.run ?? '',
      )
    const publishes = job.steps.some(({ run = '' }) => /\bpublish\b/.test(run))
    return [
      ...problems,
      ...(publishes && !isChecked ? ['publishes with a tool of unknown content'] : []),
    ].map((what) => `${name}: ${what}`)
  })
}

const workflows = readdirSync(WORKFLOWS).map((file) => ({
  file,
  text: readFileSync(join(WORKFLOWS, file), 'utf8'),
}))

test('a job with an identity runs only tools pinned by hash, and only a pushing job keeps credentials', () => {
  assert.deepEqual(
    workflows.flatMap(({ file, text }) =>
      problemsOf(parse(text) as Workflow).map((what) => `${file}: ${what}`),
    ),
    [],
  )
})

test('finds each of these problems', () => {
  const release = workflows.find(({ file }) => file === 'release.yml')?.text ?? ''
  for (const [from, to, wanted] of [
    [
      'node tools/package/bin/npm-cli.js publish',
      'npx --yes npm@11.19.0 publish',
      'publish: fetches a tool: npx',
    ],
    [' | sha512sum --check --strict', '', 'publish: publishes with a tool of unknown content'],
    ['        with: { persist-credentials: false }\n', '', 'build: keeps credentials'],
    [/go-version: '[\d.]+'/, "go-version: '1.26'", 'build: takes any Go'],
    ['git push', 'git fetch', 'publish: keeps credentials'],
  ] as const) {
    const edited = release.replace(from, to)
    assert.notEqual(edited, release, String(from))
    assert.deepEqual(problemsOf(parse(edited) as Workflow), [wanted])
  }
})

test('install scripts are off, and only esbuild has one', () => {
  assert.match(readFileSync(join(ROOT, '.npmrc'), 'utf8'), /^ignore-scripts=true$/m)
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { hasInstallScript?: boolean }>
  }
  const scripted = Object.entries(packages).flatMap(([path, { hasInstallScript }]) =>
    hasInstallScript === true ? [path] : [],
  )
  assert.deepEqual(scripted, ['node_modules/esbuild'])
})
