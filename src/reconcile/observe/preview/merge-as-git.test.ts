/** `git merge-tree --write-tree` is the reference: the merged tree, and which files conflict. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { openRepository } from '@backporch/git-store/repository'
import { parseObjectId } from '@backporch/kyaml/files'
import { gitTestEnvironment } from '../../../../test/contract/git-remotes.ts'
import { Chance } from '../../../../test/seeds/chance.ts'
import { mergeCommits } from './merge-commits.ts'

const { signal } = new AbortController()
const folder = mkdtempSync(join(tmpdir(), 'merge-as-git-'))
after(() => rmSync(folder, { recursive: true }))
const env = gitTestEnvironment(folder)

/** A text; `run:` before it makes the file a program, `link:` a symbolic link. */
type Files = Readonly<Record<string, string>>

const LINES = Array.from({ length: 9 }, (_, at) => `line ${at}\n`).join('')
const ONE = LINES.replace('line 1', 'one')
const SEVEN = LINES.replace('line 7', 'seven')
const BOTH = ONE.replace('line 7', 'seven')

const CASES: readonly (readonly [name: string, base: Files, ours: Files, theirs: Files])[] = [
  ['different files', { a: 'a\n', b: 'b\n' }, { a: 'A\n', b: 'b\n' }, { a: 'a\n', b: 'B\n' }],
  ['different lines of one file', { a: LINES }, { a: ONE }, { a: SEVEN }],
  ['the same line of one file', { a: LINES }, { a: ONE }, { a: LINES.replace('line 1', 'eins') }],
  ['the same lines, with more on one side', { a: LINES }, { a: ONE }, { a: BOTH }],
  ['different new files', { a: 'a\n' }, { a: 'a\n', b: 'b\n' }, { a: 'a\n', 'c/d': 'd\n' }],
  ['the same new file', { a: 'a\n' }, { a: 'a\n', b: 'b\n' }, { a: 'a\n', b: 'b\n' }],
  [
    'a new file with different contents',
    { a: 'a\n' },
    { a: 'a\n', b: 'b\n' },
    { a: 'a\n', b: 'B\n' },
  ],
  ['a file removed on both sides', { a: 'a\n', b: 'b\n' }, { a: 'a\n' }, { a: 'a\n' }],
  ['a file removed on one side', { a: 'a\n', b: 'b\n' }, { a: 'a\n' }, { a: 'A\n', b: 'b\n' }],
  [
    'a file removed by ours and edited by theirs',
    { a: 'a\n', b: LINES },
    { a: 'a\n' },
    { a: 'a\n', b: ONE },
  ],
  [
    'a file edited by ours and removed by theirs',
    { a: 'a\n', b: LINES },
    { a: 'a\n', b: ONE },
    { a: 'a\n' },
  ],
  [
    'a folder emptied on one side',
    { 'f/a': 'a\n', b: 'b\n' },
    { b: 'b\n' },
    { 'f/a': 'a\n', b: 'B\n' },
  ],
  ['a mode change and line changes', { a: LINES }, { a: `run:${LINES}` }, { a: ONE }],
  ['line changes and a mode change', { a: LINES }, { a: ONE }, { a: `run:${LINES}` }],
  ['lines with a mode change, and other lines', { a: LINES }, { a: `run:${ONE}` }, { a: SEVEN }],
  [
    'a binary file changed on both sides',
    { a: '\0a\nb\nc\n' },
    { a: '\0A\nb\nc\n' },
    { a: '\0a\nb\nC\n' },
  ],
  ['a link changed on both sides', { a: 'link:x' }, { a: 'link:y' }, { a: 'link:z' }],
]

function git(...args: readonly string[]): string {
  return execFileSync('git', ['-C', folder, ...args], { env, encoding: 'utf8' }).trim()
}

function commit(files: Files, ...parents: readonly string[]): string {
  return commitTree(writeTree(files), parents, env)
}

function commitTree(
  tree: string,
  parents: readonly string[],
  environment: NodeJS.ProcessEnv,
): string {
  const named = parents.flatMap((parent) => ['-p', parent])
  const args = ['-C', folder, 'commit-tree', tree, '-m', 'x', ...named]
  return execFileSync('git', args, { env: environment, encoding: 'utf8' }).trim()
}

function writeTree(files: Files): string {
  const work = mkdtempSync(join(folder, 'work-'))
  for (const [path, marked] of Object.entries(files)) {
    const file = join(work, path)
    const [, kind = '', text = ''] = /^(run:|link:)?(.*)$/s.exec(marked) ?? []
    mkdirSync(dirname(file), { recursive: true })
    if (kind === 'link:') symlinkSync(text, file)
    else writeFileSync(file, text)
    if (kind === 'run:') chmodSync(file, 0o755)
  }
  const index = {
    ...env,
    GIT_DIR: join(folder, '.git'),
    GIT_WORK_TREE: work,
    GIT_INDEX_FILE: join(work, '.index'),
  }
  execFileSync('git', ['-C', work, 'add', '--', ...Object.keys(files)], { env: index })
  return execFileSync('git', ['write-tree'], { env: index, encoding: 'utf8' }).trim()
}

git('init', '--quiet', '--initial-branch=main')

for (const [name, base, ours, theirs] of CASES)
  test(`merges like git: ${name}`, async () => {
    const first = commit(base)
    const [main, change] = [commit(ours, first), commit(theirs, first)]
    git('update-ref', 'refs/heads/main', main)
    git('update-ref', 'refs/heads/change', change)
    const repository = openRepository({
      remote: folder,
      cacheDir: mkdtempSync(join(folder, 'cache-')),
    })
    const ids = [parseObjectId(main), parseObjectId(change)] as const
    const { tree, conflicts } = await mergeCommits(repository, ...ids, signal)
    const merged = spawnSync(
      'git',
      ['-C', folder, 'merge-tree', '--write-tree', '--name-only', '--no-messages', main, change],
      { env, encoding: 'utf8' },
    )
    const [id = '', ...names] = merged.stdout.trim().split('\n')
    assert.deepEqual([...conflicts].sort(), names)
    const left = new Set(names)
    assert.deepEqual(
      tree
        .filter(({ path }) => !left.has(path))
        .map(({ mode, id, path }) => `${mode} ${id}\t${path}`),
      git('ls-tree', '-r', '--format=%(objectmode) %(objectname)%x09%(path)', id)
        .split('\n')
        .filter((line) => line !== '' && !left.has(line.split('\t')[1] ?? '')),
    )
  })

test('the merge base is one of those that git finds, whatever the clocks of the committers say', async () => {
  const random = new Chance(37)
  const tree = writeTree({ a: 'a\n' })
  let several = 0
  for (let round = 0; round < 40; round += 1) {
    const commits: string[] = []
    for (let index = 0; index < 12; index += 1) {
      const parents = new Set(
        commits.length < 2 || random.next() < 0.05
          ? []
          : [0, 1].map(() => commits.at(-1 - random.between(0, Math.min(3, commits.length) - 1))),
      )
      const at = `${1_700_000_000 + round * 1000 + random.between(0, 29)} +0000`
      const environment = { ...env, GIT_COMMITTER_DATE: at, GIT_AUTHOR_DATE: at }
      commits.push(
        commitTree(
          tree,
          [...parents].flatMap((id) => id ?? []),
          environment,
        ),
      )
    }
    const [main = '', change = ''] = commits.slice(-2)
    git('update-ref', 'refs/heads/main', main)
    git('update-ref', 'refs/heads/change', change)
    const repository = openRepository({
      remote: folder,
      cacheDir: mkdtempSync(join(folder, 'cache-')),
    })
    const ids = [parseObjectId(main), parseObjectId(change)] as const
    const { from } = await mergeCommits(repository, ...ids, signal)
    const bases = spawnSync('git', ['-C', folder, 'merge-base', '--all', main, change], {
      env,
      encoding: 'utf8',
    })
    const expected = bases.stdout.split('\n').filter((id) => id !== '')
    if (expected.length > 1) several += 1
    assert.ok(
      from === undefined ? expected.length === 0 : expected.includes(from),
      `round ${round}: ${from} is none of ${expected.join(', ')}`,
    )
  }
  assert.ok(several > 3, `${several} histories have several merge bases`)
})
