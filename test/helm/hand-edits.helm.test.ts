/** Hand edits of a release of a chart as public ones are, and what Adopt makes of each. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { convertToFailure } from '@backporch/kyaml/failure'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import { getAnnotations } from '@backporch/kyaml/resource'
import { editedBy, removedFrom } from '../fakes/live-object.ts'
import { helmOrThrow } from './find-helm.ts'
import { HAND_EDITS, type HandEdit } from './hand-edits.ts'
import {
  changedLines,
  type Files,
  StorefrontWorld,
  templated,
  UNIT,
  VALUES,
} from './storefront-world.ts'

const { helm3, helm4 } = await helmOrThrow()
/** That Helm 4 is asked too. */
const ALSO_HELM4 = [
  'image repository and tag together',
  'ConfigMap entry from a file (`.Files`)',
  'field that the template fixes',
]

function withEdits(live: JsonObject, { edits = {} }: HandEdit): JsonObject {
  return Object.entries(edits).reduce(
    (object, [field, value]) =>
      value === undefined
        ? removedFrom(object, field)
        : editedBy('kubectl-edit', object, field, value as Json),
    live,
  )
}

/** Helm itself makes the edited fields of the edited file, and nothing else but hooks, which run with the next upgrade. */
function assertOnly(
  edit: HandEdit,
  before: ReturnType<typeof templated>,
  after: ReturnType<typeof templated>,
): void {
  const key = edit.object.replace('/shop/', '//')
  const textOf = (object: JsonObject | undefined): string | undefined => {
    if (object === undefined || getAnnotations(object).has('helm.sh/hook')) return undefined
    const { managedFields: _, resourceVersion: __, ...metadata } = object['metadata'] as JsonObject
    return JSON.stringify({ ...object, metadata })
  }
  const keys = [...new Set([...before.keys(), ...after.keys()])]
  assert.deepEqual(
    keys.filter((each) => textOf(before.get(each)) !== textOf(after.get(each))),
    [key],
  )
  const expected = edit.gone === true ? undefined : textOf(withEdits(before.get(key) ?? {}, edit))
  const sorted = (text: string | undefined): unknown => JSON.parse(text ?? 'null')
  assert.deepEqual(sorted(textOf(after.get(key))), sorted(expected))
}

for (const [version, helm] of [
  ['Helm 3', helm3],
  ['Helm 4', helm4],
] as const)
  describe(`a release of the chart storefront, with ${version}`, () => {
    test('is in sync when live is what Helm renders', async () => {
      const { report } = await new StorefrontWorld(helm).plan({ packages: [UNIT] })
      assert.deepEqual([report.status.state, report.spec.changes], ['InSync', []])
    })

    for (const edit of HAND_EDITS.filter(
      ({ name }) => version === 'Helm 3' || ALSO_HELM4.includes(name),
    ))
      test(`${edit.name}: ${'refused' in edit.outcome ? 'is refused' : `is adopted in ${edit.outcome.file ?? VALUES}`}`, async () => {
        const world = new StorefrontWorld(helm)
        if (edit.gone === true) world.cluster.objects.delete(edit.object)
        else {
          const edits = { ...edit.edits, ...edit.allocated }
          world.cluster.change(edit.object, (live) => withEdits(live, { ...edit, edits }))
        }
        const answer = await world.adopted().then(
          (files) => ({ files }),
          (thrown: unknown) => ({ failure: convertToFailure(thrown) }),
        )
        if ('refused' in edit.outcome) {
          assert.ok('failure' in answer, 'not refused')
          const { code, where, why } = answer.failure
          assert.deepEqual({ code, where, why }, { code: 'BP2001', ...edit.outcome.refused })
        } else {
          if ('failure' in answer) throw answer.failure
          const { file = VALUES, lines } = edit.outcome
          assert.deepEqual([...answer.files.keys()], [file])
          const after: Files = { ...world.files, [file]: answer.files.get(file) ?? '' }
          assert.deepEqual(changedLines(world.files[file] ?? '', after[file] ?? ''), lines)
          assertOnly(edit, templated(helm, world.files), templated(helm, after))
        }
        assert.ok(world.builds <= edit.builds, `${world.builds} runs of Helm`)
      })
  })
