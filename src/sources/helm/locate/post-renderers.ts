/** Each field is only a candidate, as in a kustomization. */
import { createFieldStep, type FieldPath } from '@backporch/kyaml/field'
import { formatJson } from '@backporch/kyaml/json'
import { index } from '../../build/adopt/source-document.ts'
import type { PostRenderer } from '../../build/built-source.ts'
import type { BuiltTarget } from '../../build/built-unit.ts'
import { KustomizeLocations } from '../../kustomize/locate/kustomize-locations.ts'
import type { Wanted } from '../../locate/candidate.ts'

const PATH = 'kustomization.yaml'

interface WrittenField {
  readonly path: FieldPath
  readonly wanted: Wanted
}

export function listPostRendererFields(
  { kustomization, at }: PostRenderer,
  target: BuiltTarget,
): readonly WrittenField[] {
  const content = new TextEncoder().encode(formatJson(kustomization))
  const locations = new KustomizeLocations(
    new Map([[PATH, { path: PATH, mode: '100644', content }]]),
  )
  const location = { path: PATH, document: 0, item: undefined, line: 1, step: 'helm template' }
  const [written] = locations.find({ ...target, desired: { ...target.desired, location } })
  const above = at.map((step) => (typeof step === 'number' ? index(step) : createFieldStep(step)))
  return (written?.candidates ?? []).flatMap(
    ({ edits: [only, ...more] }): readonly WrittenField[] => {
      if (only === undefined || more.length > 0) return []
      const { edit } = only
      if (edit.kind === 'set') return [{ path: [...above, ...edit.path], wanted: edit.value }]
      return edit.kind === 'remove' ? [{ path: [...above, ...edit.path], wanted: undefined }] : []
    },
  )
}
