/** No test draws by luck: chance comes from the committed seeds, and what differs each time is only a name that must not be there already. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathOf, ROOT } from './seeds.ts'

const UNIQUE = 'a name, folder, id or password on a server that others may use too'
const RECORDED = 'the seed of what was recorded'
/** Files that may, and why. */
const ALLOWED: Readonly<Record<string, string>> = {
  'src/adapters/functions/run-module.test.ts':
    'the text of a function that does not do the same twice',
  'test/contract/repository-remote.test.ts': 'bytes that cannot be compressed',
  'test/argo/cases/application-sets.ts': RECORDED,
  'test/config-sync/cases.ts': RECORDED,
  'test/controlplane/control-plane.ts': UNIQUE,
  'test/controlplane/free-port.ts': 'a port that another run does not try at the same moment',
  'test/controlplane/start-guard.ts': UNIQUE,
  'test/controlplane/x509-certificate.ts': 'the serial number of a certificate',
  'test/e2e/canary-sweep.ts': UNIQUE,
  'test/e2e/controller-process.ts': UNIQUE,
  'test/e2e/desired-package.ts': UNIQUE,
  'test/e2e/kubernetes-events.live.test.ts': UNIQUE,
  'test/e2e/shop-package.ts': UNIQUE,
  'test/explore.ts': 'fresh seeds are what it is for',
  'test/flux/flux-controllers.ts': 'the mark of a request to reconcile',
  'test/gitea/app-ini.ts': UNIQUE,
  'test/gitea/gitea.ts': UNIQUE,
  'test/gitea/start-gitea.ts': UNIQUE,
  'test/processes/interrupted-run.test.ts': UNIQUE,
  'test/programs/with-file-lock.ts': UNIQUE,
}

const RANDOM = /\bMath\.random\b|\b(?:randomBytes|randomInt|randomUUID|getRandomValues)\b/
/** In a test; what only makes values for tests may import the library. */
const UNSEEDED = /\bfrom 'fast-check'|\bfc\s*\.check\(/
/** Elsewhere, because the seeds of a property are found by the file that checks it. */
const ELSEWHERE = /\bfc\s*\.(?:assert|check|sample)\(/

function testCode(): string[] {
  return ['src', 'test', 'functions', 'bench']
    .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }))
    .filter(
      (entry) =>
        entry.isFile() && entry.name.endsWith('.ts') && !entry.parentPath.includes('node_modules'),
    )
    .map((entry) => pathOf(join(entry.parentPath, entry.name)))
    .filter((file) => file.startsWith('test/') || file.endsWith('.test.ts'))
    .filter((file) => !file.startsWith('test/seeds/'))
}

function lucky(file: string): boolean {
  const text = readFileSync(join(ROOT, file), 'utf8')
  return RANDOM.test(text) || (file.endsWith('.test.ts') ? UNSEEDED : ELSEWHERE).test(text)
}

test('tests draw randomness only from the seeds of test/seeds', () => {
  const files = testCode()
  assert.ok(files.length > 900, `${files.length} files`)
  const found = files.filter(lucky)
  assert.deepEqual(
    found.filter((file) => ALLOWED[file] === undefined),
    [],
    'chance comes from test/seeds/chance.ts and test/seeds/fast-check.ts',
  )
  assert.deepEqual(
    Object.keys(ALLOWED).filter((file) => !found.includes(file)),
    [],
    'no longer needed',
  )
})

test('the search finds each source of randomness', () => {
  for (const text of [
    `const x = Math.${'random'}()`,
    `import { ${'random'}Bytes } from`,
    `${'random'}Int(3)`,
  ])
    assert.match(text, RANDOM)
  for (const text of [
    "import fc from 'fast-check'",
    "import { property } from 'fast-check'",
    'fc.check(it)',
    'fc\n  .check(it)',
  ])
    assert.match(text, UNSEEDED)
  assert.doesNotMatch("import * as fc from './fast-check.ts'", UNSEEDED)
  for (const name of ['assert', 'check', 'sample'])
    for (const text of [`fc.${name}(it)`, `fc\n  .${name}(it)`]) assert.match(text, ELSEWHERE)
})
