import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from '../../../test/seeds/fast-check.ts'
import { createFieldStep, type FieldPath, isWithin } from './field-path.ts'
import { PathSet } from './path-set.ts'

const path: fc.Arbitrary<FieldPath> = fc.array(fc.constantFrom('a', 'b').map(createFieldStep), {
  minLength: 1,
  maxLength: 4,
})

test('a set gives the same results as a linear search of its members', () => {
  fc.assert(
    fc.property(fc.array(path, { maxLength: 5 }), path, (members, requested) => {
      const set = new PathSet(members)
      const covered = members.some((member) => isWithin(requested, member))
      assert.equal(set.covers(requested), covered)
      assert.equal(
        set.overlaps(requested),
        covered || members.some((member) => isWithin(member, requested)),
      )
    }),
  )
})
