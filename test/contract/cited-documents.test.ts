/** What a comment cites is in the repository: documents by their path, decisions by their number. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Not part of an address or of another project's path. */
const CITED =
  /(?<![\w./@-])docs\/(?:adr|facts|guides)\/[\w.-]*\w|(?<![\w./@-])docs\/\w+\.md\b|\bADRs? \d+(?:(?:,| and) \d+)*/g

/** What stands for nothing. */
function missing(text: string): readonly string[] {
  return commentsOf(text).flatMap((comment) =>
    [...comment.matchAll(CITED)].flatMap(([cited]) => (exists(cited) ? [] : [cited])),
  )
}

function exists(cited: string): boolean {
  const numbers = cited.startsWith('ADR')
    ? (cited.match(/\d+/g) ?? [])
    : (/^docs\/adr\/(\d+)$/.exec(cited)?.slice(1) ?? [])
  if (numbers.length === 0) return existsSync(join(ROOT, cited))
  const decisions = readdirSync(join(ROOT, 'docs/adr')).map((name) => Number.parseInt(name, 10))
  return numbers.every((number) => decisions.includes(Number(number)))
}

/** A comment that goes on over several lines is one text. */
function commentsOf(text: string): readonly string[] {
  const ranges = new Map<number, ts.CommentRange>()
  const visit = (node: ts.Node): void => {
    for (const range of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [])
      ranges.set(range.pos, range)
    for (const range of ts.getTrailingCommentRanges(text, node.getEnd()) ?? [])
      ranges.set(range.pos, range)
    for (const child of node.getChildren()) visit(child)
  }
  visit(ts.createSourceFile('', text, ts.ScriptTarget.Latest, true))
  return [...ranges.values()].map(({ pos, end }) =>
    text.slice(pos, end).replaceAll(/(?:\n\s*(?:\*|\/\/)?|\s)+/g, ' '),
  )
}

test('every document and decision that a comment cites exists', () => {
  const files = execFileSync('git', ['ls-files', '-z', 'src', 'functions', 'test'], {
    cwd: ROOT,
    encoding: 'utf8',
  }).split('\0')
  const sources = files.filter((path) => path.endsWith('.ts'))
  const found = sources
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
    .filter(({ text }) => text.search(CITED) >= 0)
  assert.ok(found.length > 50, `only ${found.length} files cite anything`)
  assert.deepEqual(
    found.flatMap(({ path, text }) => missing(text).map((cited) => `${path}: ${cited}`)),
    [],
  )
})

test('finds missing documents and decisions, and ignores addresses', () => {
  for (const [comment, wanted] of [
    ['// docs/facts/no-such-fact.md', ['docs/facts/no-such-fact.md']],
    ['/** See docs/adr/0099, and ADR 98. */', ['docs/adr/0099', 'ADR 98']],
    ['/**\n * ADR\n * 97\n */', ['ADR 97']],
    ['// docs/adr/0003, ADR 3 and 96', ['ADR 3 and 96']],
    ['// https://example.com/docs/guides/other.md', []],
    ["const path = 'docs/facts/no-such-fact.md'", []],
    ['// docs/design.md §4, docs/facts/list-cost.md.', []],
  ] as const)
    assert.deepEqual(missing(`${comment}\nconst after = 1\n`), wanted, comment)
})
