import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { committedTree, partOf, quarterOf } from './crash-points.ts'
import * as fc from './fast-check.ts'
import { ROOT } from './seeds.ts'

const PARTS = fc.constantFrom(4, 24)

test('each point is in exactly one part', () => {
  fc.assert(
    fc.property(fc.nat(200), PARTS, (length, parts) => {
      const points = Array.from({ length }, (_, index) => index)
      const all = Array.from({ length: parts }, (_, part) =>
        partOf(points, parts, part.toString(16).padStart(8, '0')),
      ).flat()
      assert.deepEqual(
        all.sort((left, right) => left - right),
        points,
      )
    }),
  )
})

test('a part has one point per row, in a different column each time', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9a-f]{40}$/), PARTS, (tree, parts) => {
      const points = Array.from(
        { length: parts * parts },
        (_, index) => [Math.floor(index / parts), index % parts] as const,
      )
      const part = partOf(points, parts, tree)
      assert.deepEqual(
        [new Set(part.map(([row]) => row)).size, new Set(part.map(([, column]) => column)).size],
        [parts, parts],
      )
    }),
  )
})

test("the commit's tree selects the quarter; without a tree, or on request, all points run", (t) => {
  const said: string[] = []
  const context = { diagnostic: (line: string) => void said.push(line) } as TestContext
  const before = process.env['BACKPORCH_CRASH_POINTS']
  t.after(() => {
    if (before === undefined) delete process.env['BACKPORCH_CRASH_POINTS']
    else process.env['BACKPORCH_CRASH_POINTS'] = before
  })
  const points = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  delete process.env['BACKPORCH_CRASH_POINTS']
  const tree = committedTree(ROOT)
  assert.deepEqual(
    quarterOf(context, points),
    tree === undefined ? points : partOf(points, 4, tree),
  )
  process.env['BACKPORCH_CRASH_POINTS'] = 'all'
  assert.deepEqual(quarterOf(context, points), points)
  assert.equal(said[1], '8 of 8 points: all')

  const folder = mkdtempSync(join(tmpdir(), 'backporch-crash-points-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  assert.equal(committedTree(folder), undefined)
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
      cwd: folder,
      encoding: 'utf8',
    }).trim()
  git('init', '--quiet')
  assert.equal(committedTree(folder), undefined)
  execFileSync('sh', ['-c', 'mkdir src && echo 1 >src/a.ts && echo 1 >README.md'], { cwd: folder })
  git('add', '--all')
  git('commit', '--quiet', '--message', 'source')
  const first = committedTree(folder)
  assert.equal(first, git('rev-parse', 'HEAD:src'))
  execFileSync('sh', ['-c', 'echo 2 >README.md'], { cwd: folder })
  git('commit', '--quiet', '--all', '--message', 'text')
  assert.equal(committedTree(folder), first, 'a commit of texts')
})
