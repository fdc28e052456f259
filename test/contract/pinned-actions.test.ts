/** An action is named by a commit, with its version beside it: a tag can be moved to other code, which then has the tokens of the workflow. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Our own, in the guide: who reads it puts in the commit of the release that he takes. */
const OURS = 'OWNER/backporch@COMMIT'
/** What a step or job `uses`, wherever it stands in a line of YAML, and what follows it. */
const USES =
  /(?:^|[\s{,-])["']?uses["']?\s*:\s*["']?([\w.-]+\/[^\s"',}]+|docker:\/\/[^\s"',}]+)["']?(.*)$/gm
const PINNED = /^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/

/** `action: what is wrong` of each that is not pinned; a path of the same repository is of its own commit. */
function unpinned(text: string): readonly string[] {
  return [...text.matchAll(USES)].flatMap(([, action = '', rest = '']) => {
    if (action.startsWith('./') || action === OURS) return []
    if (!PINNED.test(action)) return [`${action}: no commit`]
    return /^\s+# v\d+\.\d+\.\d+/.test(rest) ? [] : [`${action}: no version`]
  })
}

test('every action in a workflow, guide or example is pinned to a commit, with its version', () => {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0')
  const read = files.filter((path) => /\.(?:ya?ml|md)$/.test(path))
  const found = read.map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
  const using = found.filter(({ text }) => text.search(USES) >= 0).map(({ path }) => path)
  assert.ok(
    using.includes('.github/workflows/ci.yml') && using.includes('docs/guides/in-ci.md'),
    `looked at ${using.join(', ')}`,
  )
  assert.deepEqual(
    found.flatMap(({ path, text }) => unpinned(text).map((what) => `${path}: ${what}`)),
    [],
  )
})

test('finds a tag, a branch, a short commit, an image and a commit without its version', () => {
  const commit = 'a'.repeat(40)
  for (const [line, wanted] of [
    ['      - uses: actions/checkout@v4', 'no commit'],
    ['      - {uses: actions/checkout@main}', 'no commit'],
    ["        uses: 'a/b/c@1a2b3c4'", 'no commit'],
    ['        "uses": docker://alpine:3', 'no commit'],
    ['      - uses: actions/checkout', 'no commit'],
    [`      - uses: actions/checkout@${commit}`, 'no version'],
    [`      - uses: actions/checkout@${commit} # latest`, 'no version'],
  ])
    assert.match(unpinned(line ?? '').join(), new RegExp(`${wanted}$`), line)
  for (const line of [
    `      - uses: a/b@${commit} # v1.2.3`,
    '      - uses: ./.github/actions/own',
    'The account uses: nothing',
    'causes: a/b@v1',
  ])
    assert.deepEqual(unpinned(line), [], line)
})
