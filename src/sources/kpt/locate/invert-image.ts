import { createFieldStep } from '@backporch/kyaml/field'
import { splitReference } from '@backporch/kyaml/text'
import { findTextAt, mapAt } from '@backporch/kyaml/yaml'
import type { Candidate, Locations } from '../../locate/candidate.ts'
import { createStepObstacle, type Inverse, type InverseInput } from './find-locations.ts'

type Part = 'newName' | 'newTag' | 'digest'

export const invertImage: Inverse = (input) => {
  const { run, target } = input
  if (typeof target.wanted !== 'string') return undefined
  const own = findTextAt(run.config, 'kind') === 'SetImage'
  const given = own ? mapAt(run.config, 'image') : mapAt(run.config, 'data')
  const [name, newName, newTag, digest] = ['name', 'newName', 'newTag', 'digest'].map(
    (part) => findTextAt(given, part) || undefined,
  )
  const wanted = splitReference(target.wanted)
  const changes = new Map<Part, string>()
  if (wanted.name !== (newName ?? name)) changes.set('newName', wanted.name)
  if (wanted.tag !== undefined && wanted.tag !== newTag) changes.set('newTag', wanted.tag)
  if (wanted.digest !== undefined && wanted.digest !== digest) changes.set('digest', wanted.digest)
  if (
    (wanted.tag === undefined && newTag !== undefined) ||
    (wanted.digest === undefined && digest !== undefined)
  )
    return createStepObstacle(
      run,
      'the live image has no tag, or no digest, and the function sets one',
    )
  return changes.size === 0 ? undefined : locateParts(input, own ? 'image' : 'data', changes)
}

function locateParts(
  { run, target, finder }: InverseInput,
  at: string,
  changes: ReadonlyMap<Part, string>,
): Locations {
  const parts = [...changes].map(([part, value]) =>
    finder.locateConfigEntry(
      run,
      [createFieldStep(at), createFieldStep(part)],
      { wanted: value, depth: target.depth },
      { via: 'set-image', what: `the ${part} of set-image` },
    ),
  )
  const missing = parts.find(({ candidates }) => candidates.length === 0)
  if (missing !== undefined) return missing
  const chosen = parts.map(({ candidates }) => candidates[0] as Candidate)
  const via = chosen.length === 1 ? (chosen[0] as Candidate).via : 'set-image'
  return {
    candidates: [
      {
        via,
        what: chosen.map(({ what }) => what).join(' and '),
        edits: chosen.flatMap(({ edits }) => edits),
      },
    ],
    obstacles: [],
  }
}
