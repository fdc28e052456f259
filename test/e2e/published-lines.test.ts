/** The lines are run as they are printed, in a clone of a repository that others share. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { cloneState } from '@backporch/git-store/work-tree'
import { parseObjectId } from '@backporch/kyaml/files'
import {
  formatPublishedLines,
  publishCommand,
  type RepositoryLocation,
} from '../../src/cli/print/published-lines.ts'
import { ONBOARDING_FILES, onboardingRecording } from '../fakes/onboarding-samples.ts'
import { PROGRAM } from '../program.ts'

const HERE: RepositoryLocation = { kind: 'clone', git: 'git', name: 'this clone', origin: true }
const SOME = parseObjectId('a'.repeat(40))
const LEDGER = 'refs/heads/drift-ledger'
const PROPOSED = 'refs/heads/proposed/apps/web/drift-1a2b3c4d'
const DRAFT = 'refs/heads/drafts/apps/web/drift-1a2b3c4d'
const TAG = 'refs/tags/apps/web/v1'

interface Clone {
  readonly folder: string
  readonly environment: NodeJS.ProcessEnv
  /** A shell line in the clone. @returns what it prints */
  readonly run: (line: string) => string
  /** Whether origin and the clone have the same there, be it nothing. */
  readonly isPublished: (ref: string) => boolean
}

function cloneOf(t: TestContext): Clone {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'backporch-clone-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const environment = {
    PATH: process.env['PATH'],
    HOME: root,
    NODE_COMPILE_CACHE: join(tmpdir(), 'backporch-test-compile-cache'),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
  }
  const folder = join(root, 'deploy')
  const shell = (cwd: string) => (line: string) =>
    execFileSync('sh', ['-ec', line], { cwd, env: environment, encoding: 'utf8', stdio: 'pipe' })
  shell(root)(
    'git init -q --bare -b main origin.git && git clone -q origin.git deploy && git -C deploy checkout -q -b main',
  )
  for (const [path, text] of Object.entries(ONBOARDING_FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  writeFileSync(join(root, 'live.json'), onboardingRecording())
  const run = shell(folder)
  run('git add -A && git commit -q -m "three packages" && git push -q origin main')
  const at = (ref: string): string => run(`git rev-parse -q --verify ${ref} || true`).trim()
  const there = (ref: string): string =>
    run(`git -C ../origin.git rev-parse -q --verify ${ref} || true`).trim()
  return { folder, environment, run, isPublished: (ref) => at(ref) === there(ref) }
}

/** The command of the line that begins with the word. */
function printed(lines: string, word: string): string {
  return (
    lines
      .split('\n')
      .find((line) => line.startsWith(`  ${word}:`))
      ?.slice(word.length + 3)
      .trim() ?? assert.fail(`no ${word} in ${lines}`)
  )
}

test('the commands that init prints in a clone review, publish, enrol and remove', (t) => {
  const { run, isPublished } = cloneOf(t)
  const init = (flags = ''): string =>
    run(
      `'${process.execPath}' '${PROGRAM}' init --live ../live.json --cluster prod --forge local --yes ${flags} 2>&1`,
    )
  const first = init()
  const branch = 'refs/heads/drift/configure'
  assert.match(first, /written to this clone: drift\/configure\n/)
  assert.ok(!isPublished(branch), 'origin has it before it was published')
  assert.match(run(printed(first, 'review')), /\+kind: DriftPolicy/)
  run(printed(first, 'publish'))
  assert.ok(isPublished(branch))
  run(printed(init(), 'publish'))
  const removed = init('--remove')
  assert.ok(!isPublished(branch))
  run(printed(removed, 'where origin has it'))
  assert.ok(isPublished(branch))
  const again = init()
  run(printed(again, 'enrol'))
  assert.ok(isPublished('refs/heads/main'))
  assert.match(run('git show main:.drift/default.policy'), /kind: DriftPolicy/)
  assert.match(init(), /enrolled: main has .*is removed from this clone/)
})

test('the commands that scan, adopt and approve print in a clone push all that they wrote to origin', (t) => {
  const { run, isPublished } = cloneOf(t)
  const backporch = (...args: readonly string[]): string =>
    run(
      `'${process.execPath}' '${PROGRAM}' ${args.join(' ')} --live ../live.json --cluster prod 2>&1 || case $? in 1 | 3) ;; *) exit 9 ;; esac`,
    )
  const refs = (): readonly string[] =>
    run("git for-each-ref --format='%(refname)' refs/heads refs/tags").trim().split('\n')
  const scanned = backporch('scan', 'apps/web')
  const [draft] = refs().filter((ref) => ref.startsWith('refs/heads/drafts/apps/web/'))
  assert.ok(draft !== undefined && !isPublished(draft))
  assert.match(run(printed(scanned, 'review')), /\+kind: DriftRecord/)
  run(printed(scanned, 'publish'))
  for (const ref of refs()) assert.ok(isPublished(ref), ref)

  const adopted = backporch('adopt', 'apps/web', '-m', 'peak')
  const ref = draft.replace('/drafts/', '/proposed/')
  assert.ok(!isPublished(ref) && !isPublished(draft))
  run(printed(adopted, 'publish'))
  for (const each of [draft, ...refs()]) assert.ok(isPublished(each), each)

  const approved = backporch('approve', 'apps/web', '--yes')
  assert.match(approved, /apps\/web v1 is published/)
  for (const each of ['refs/heads/main', TAG, LEDGER, ref]) assert.ok(!isPublished(each), each)
  run(printed(approved, 'publish'))
  for (const each of ['refs/heads/main', TAG, LEDGER, ref]) assert.ok(isPublished(each), each)
})

test('in a shallow clone without the ledger of origin the push is refused, and the printed fix publishes', (t) => {
  const { run } = cloneOf(t)
  const backporch = (clone: string, words: string): string =>
    run(
      `cd '${clone}' && '${process.execPath}' '${PROGRAM}' ${words} apps/web --live ../live.json --cluster prod 2>&1 || case $? in 1 | 3) ;; *) exit 9 ;; esac`,
    )
  run(printed(backporch('.', 'scan'), 'publish'))
  run(printed(backporch('.', 'adopt'), 'publish'))
  const remote = (): string => run('git ls-remote --heads origin')
  const before = remote()
  run(
    'git clone -q --depth=1 "file://$PWD/../origin.git" ../shallow && git -C ../shallow branch -q drafts/mine',
  )
  const first = backporch('../shallow', 'scan')
  assert.throws(() => run(`cd ../shallow && ${printed(first, 'publish')}`), /rejected/)
  assert.equal(remote(), before)
  const wayOut = printed(first, 'if origin rejects drift-ledger because it already has one')
  const [command = '', then] = wayOut.split(', and ')
  assert.equal(then, 'scan again')
  run(`cd ../shallow && ${command}`)
  const again = backporch('../shallow', 'scan')
  // Nothing is new: origin has it all, and the branch of a person is still there.
  assert.doesNotMatch(again, /publish:|recorded:/)
  assert.match(again, /unchanged: proposed\/apps\/web\/drift-/)
  run('git -C ../shallow rev-parse -q --verify drafts/mine')
  run("cd ../shallow && git push -q --atomic origin 'refs/heads/proposed/apps/*' drift-ledger")
  assert.equal(remote(), before)
})

test('one push publishes everything, or nothing when somebody pushed first', (t) => {
  const { run, isPublished } = cloneOf(t)
  const commit = (ref: string, parents: string): void => {
    run(`git update-ref ${ref} $(echo ${ref} | git commit-tree main^{tree} ${parents})`)
  }
  commit(PROPOSED, '-p main')
  commit(LEDGER, '')
  const proposed = formatPublishedLines(
    [
      // The draft that it was before was never published.
      { ref: DRAFT, from: SOME, to: null },
      { ref: PROPOSED, from: null, to: SOME },
      { ref: LEDGER, from: null, to: SOME },
    ],
    'main',
    HERE,
  ).join('\n')
  assert.match(
    proposed,
    /^ {2}written to this clone: proposed\/apps\/web\/drift-1a2b3c4d, drift-ledger$/m,
  )
  run(printed(proposed, 'review'))
  run(printed(proposed, 'publish'))
  for (const ref of [DRAFT, PROPOSED, LEDGER]) assert.ok(isPublished(ref), ref)

  // Made anew on another commit.
  const rebuilt = publishCommand([{ ref: PROPOSED, from: SOME, to: SOME }], HERE) ?? ''
  commit(PROPOSED, '-p main^{commit} -m anew')
  run(rebuilt)
  assert.ok(isPublished(PROPOSED))

  run(`git merge -q --no-ff --no-edit ${PROPOSED} && git tag apps/web/v1`)
  run(`git branch -q apps/web/v1 main~ && git update-ref -d ${PROPOSED}`)
  commit(LEDGER, `-p ${LEDGER}`)
  const approved = publishCommand(
    [
      { ref: 'refs/heads/main', from: SOME, to: SOME },
      { ref: TAG, from: null, to: SOME },
      { ref: PROPOSED, from: SOME, to: null },
      { ref: LEDGER, from: SOME, to: SOME },
    ],
    HERE,
  )
  run(approved ?? '')
  for (const ref of ['refs/heads/main', TAG, PROPOSED, LEDGER]) assert.ok(isPublished(ref), ref)

  // Somebody else was faster: nothing of it arrives.
  run('git commit -q --amend --allow-empty -m other && git tag apps/web/v2')
  const late = publishCommand(
    [
      { ref: 'refs/heads/main', from: SOME, to: SOME },
      { ref: 'refs/tags/apps/web/v2', from: null, to: SOME },
    ],
    HERE,
  )
  assert.throws(() => run(late ?? ''), /non-fast-forward/)
  assert.ok(!isPublished('refs/tags/apps/web/v2'))
})

test('recognises a clone, a repository without origin, a bare one, and none', async (t) => {
  const { folder, environment, run } = cloneOf(t)
  const state = (path: string) => cloneState(path, new AbortController().signal, environment)
  assert.deepEqual(
    await Promise.all(
      [folder, join(folder, 'apps/web'), join(folder, '../origin.git'), dirname(folder)].map(state),
    ),
    ['clone', 'clone', 'none', 'none'],
  )
  run('git remote rename origin upstream')
  assert.equal(await state(folder), 'alone')
})

test('prints nothing for a shared repository, and no push without an origin', () => {
  const updates = [{ ref: PROPOSED, from: null, to: SOME }]
  assert.deepEqual(formatPublishedLines(updates, 'main', { kind: 'shared' }), [])
  assert.deepEqual(formatPublishedLines([], 'main', HERE), [])
  assert.deepEqual(formatPublishedLines(updates, 'main', { ...HERE, origin: false }), [])
  assert.deepEqual(
    formatPublishedLines(updates, "it's", {
      ...HERE,
      git: "git -C '../a b'",
      name: 'the clone ../a b',
    }),
    [
      '  written to the clone ../a b: proposed/apps/web/drift-1a2b3c4d',
      "  review:  git -C '../a b' diff 'it'\\''s...proposed/apps/web/drift-1a2b3c4d'",
      "  publish: git -C '../a b' push origin proposed/apps/web/drift-1a2b3c4d",
    ],
  )
})
