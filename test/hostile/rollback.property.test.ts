/**
 * Whatever order commits, applies of any commit, hand edits and scans come in, with a process that lives on or a new one: what the syncer's
 * manager wrote is RolledBack exactly where it is older than what the object was seen with, Behind otherwise, and never in sync.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TurnCache } from '../../src/reconcile/observe/turn-cache.ts'
import * as fc from '../seeds/fast-check.ts'
import { A, B, type Content, RolloutWorld } from './rollout-world.ts'

type Data = { readonly [key: string]: string }
type Name = 'a' | 'b'

/** One object as the test knows it. */
interface Known {
  data: Data
  /** Keys that a person wrote last. */
  readonly byHand: Set<string>
  /** Number of the commit with which the ledger has it: the newest one when a scan found it in agreement with git and wrote that down. */
  count: number
}

class Model {
  readonly world: RolloutWorld
  readonly commits: Content[]
  readonly objects: Record<Name, Known>
  between = new TurnCache()

  constructor(first: Content) {
    this.world = new RolloutWorld(first)
    this.commits = [first]
    this.world.apply(first)
    this.objects = {
      a: { data: first.a ?? {}, byHand: new Set(), count: -1 },
      b: { data: first.b ?? {}, byHand: new Set(), count: -1 },
    }
  }

  commit(content: Content): void {
    this.commits.push(content)
    this.world.commit(content)
  }

  apply(number: number, only: Name | undefined): void {
    const content = this.commits[number % this.commits.length] ?? {}
    this.world.apply(content, only === undefined ? {} : { only })
    for (const name of ['a', 'b'] as const) {
      const data = content[name] ?? {}
      if (
        (only !== undefined && only !== name) ||
        JSON.stringify(this.objects[name].data) === JSON.stringify(data)
      )
        continue
      this.objects[name].data = data
      this.objects[name].byHand.clear()
    }
  }

  hand(name: Name, value: string): void {
    this.world.hand(name === 'a' ? A : B, 'data.x', value)
    this.objects[name].data = { ...this.objects[name].data, x: value }
    this.objects[name].byHand.add('x')
  }

  /**
   * What a scan has to report, by the numbers of the commits alone. `open`: a field is gone that nobody saw live, so that no value shows whose
   * it is; it may be either, and never in sync.
   * @param written whether the scan wrote to the ledger: a scan that finds what the ledger has already leaves no trace
   */
  expected(written: boolean): { changes: string[]; waits: string[]; open: string[] } {
    const changes: string[] = []
    const waits: string[] = []
    const open: string[] = []
    const head = this.commits.length - 1
    for (const name of ['a', 'b'] as const) {
      const object = this.objects[name]
      const git = this.commits[head]?.[name] ?? {}
      const keys = [...new Set([...Object.keys(git), ...Object.keys(object.data)])].filter(
        (key) => git[key] !== object.data[key],
      )
      for (const key of keys) {
        const location = `${name} data.${key}`
        const newest = this.commits.findLastIndex(
          (content, number) => number < head && content[name]?.[key] === object.data[key],
        )
        if (object.byHand.has(key) || newest === -1) changes.push(location)
        else if (newest < object.count) changes.push(`${location} rolled back`)
        else if (object.data[key] === undefined) open.push(location)
        else waits.push(`Behind ${location}`)
      }
      if (keys.length === 0 && written) object.count = head
    }
    return { changes: changes.sort(), waits: waits.sort(), open }
  }
}

const value = fc.constantFrom('1', '2', '3')
const data = fc.record({ x: value, y: value }, { requiredKeys: ['x'] })
const content = fc.record({ a: data, b: data })
const name = fc.constantFrom<Name>('a', 'b')
const step = fc.oneof(
  { weight: 3, arbitrary: content.map((next) => (model: Model) => model.commit(next)) },
  {
    weight: 5,
    arbitrary: fc.tuple(fc.nat(12), fc.option(name, { nil: undefined })).map(
      ([number, only]) =>
        (model: Model) =>
          model.apply(number, only),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constant((model: Model) => model.apply(model.commits.length - 1, undefined)),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(name, value).map(
      ([one, text]) =>
        (model: Model) =>
          model.hand(one, text),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.nat(400).map((minutes) => (model: Model) => model.world.pass(minutes)),
  },
  {
    weight: 1,
    arbitrary: fc.constant((model: Model) => {
      model.between = new TurnCache()
    }),
  },
)

test("older than what was live is RolledBack, other older content is Behind, and only git's content is in sync", async (context) => {
  const reported = { RolledBack: 0, Behind: 0, InSync: 0 }
  await fc.assert(
    fc.asyncProperty(
      content,
      fc.array(fc.array(step, { maxLength: 4 }), { minLength: 3, maxLength: 10 }),
      async (first, scans) => {
        const model = new Model(first)
        for (const steps of scans) {
          for (const each of steps) {
            model.world.pass(1)
            each(model)
          }
          const before = model.world.ledger
          const { state, changes, waits } = await model.world.observed(model.between)
          const { open, ...expected } = model.expected(model.world.ledger !== before)
          const isOpen = (line: string): boolean => open.some((location) => line.endsWith(location))
          assert.equal(
            state,
            changes.length > 0 ? 'Drifted' : waits.length > 0 ? 'Behind' : 'InSync',
          )
          assert.equal([...changes, ...waits].filter(isOpen).length, open.length)
          const rest = (lines: readonly string[]): string[] =>
            lines.filter((line) => !isOpen(line)).sort()
          assert.deepEqual({ changes: rest(changes), waits: rest(waits) }, expected)
          reported.RolledBack += changes.filter((line) => line.endsWith('rolled back')).length
          reported.Behind += waits.length
          reported.InSync += state === 'InSync' ? 1 : 0
        }
      },
    ),
    { numRuns: 150 },
  )
  context.diagnostic(JSON.stringify(reported))
  for (const [word, count] of Object.entries(reported))
    assert.ok(count > 20, `${word} was told ${count} times`)
})
