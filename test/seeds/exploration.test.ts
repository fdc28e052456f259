import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exploredFiles, leastExplored, seedOfFailure, withFailure } from './exploration.ts'

test('explores files that draw from seeds, and files that run part of their crash points', () => {
  const { seeded, crashing } = exploredFiles()
  for (const file of [
    'src/kyaml/text/glob.test.ts',
    'test/e2e/chaos.gitea.test.ts',
    'test/hostile/run-two-controllers.ts',
    'functions/set-image/fn.test.ts',
  ])
    assert.ok(seeded.includes(file), file)
  for (const file of [
    'test/crash/kill-limits.test.ts',
    'test/crash/settle.live.test.ts',
    'test/hostile/command-faults.test.ts',
  ])
    assert.ok(crashing.includes(file), file)
  for (const file of [
    'test/e2e/frozen-controller.gitea.test.ts',
    'test/crash/kill-limits.test.ts',
    'src/kyaml/failure.test.ts',
  ])
    assert.ok(!seeded.includes(file), file)
  assert.ok(seeded.length > 80, `${seeded.length} files`)
})

test('the least explored file is next', () => {
  assert.equal(
    leastExplored(
      new Map([
        ['a', 2],
        ['b', 0],
        ['c', 0],
      ]),
    ),
    'b',
  )
  assert.equal(leastExplored(new Map()), undefined)
})

test('keeps the seed of a failure, and the path with the most runs', () => {
  const output =
    '{ seed: -5, path: "9:1", endOnFailure: true }\n{ seed: -5, path: "10", endOnFailure: true }\n{ seed: 6, path: "99" }'
  assert.deepEqual(seedOfFailure(output, -5), { seed: -5, path: '10' })
  assert.deepEqual(seedOfFailure('nothing about a property', 7), { seed: 7 })
})

test('adds a seed to those of its file, and sorts files', () => {
  const committed = { base: 1, failed: { b: [{ seed: 2 }] } }
  const once = withFailure(withFailure(committed, 'a', { seed: 3, path: '4' }), 'b', { seed: 5 })
  assert.equal(
    JSON.stringify(once),
    '{"base":1,"failed":{"a":[{"seed":3,"path":"4"}],"b":[{"seed":2},{"seed":5}]}}',
  )
})
