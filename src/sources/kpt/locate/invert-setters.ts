import {
  extractSetterValues,
  findOnlySetter,
  findSetterPattern,
  invertPattern,
  type SetterChanges,
  type SetterPattern,
} from '@backporch/kpt/field'
import { getConfigData } from '@backporch/kpt/function'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { createFieldStep } from '@backporch/kyaml/field'
import { isJsonArray } from '@backporch/kyaml/json'
import { convertJsonToYaml, findNodeAtPath, resolveAlias } from '@backporch/kyaml/yaml'
import { type Candidate, type Locations, NOWHERE, type Wanted } from '../../locate/candidate.ts'
import { deduplicateEdits } from '../../locate/combine-locations.ts'
import { createStepObstacle, type Inverse, type InverseInput } from './find-locations.ts'

export const invertSetters: Inverse = (input) => {
  const { target, run, finder } = input
  const pattern = findPattern(input)
  if (pattern === undefined) return undefined
  const given = getConfigData(run.config)
  // A setter cannot remove or add a field: the field is removed with its comment.
  if (target.wanted === undefined) return finder.findInManifest(target)
  if (isJsonArray(target.wanted)) return invertList(input, pattern)
  if (typeof target.wanted === 'object' && target.wanted !== null) return undefined
  const wanted = String(target.wanted)
  const now = input.node === undefined ? undefined : resolveAlias(input.node)
  const text = now?.kind === 'scalar' ? now.value : ''
  // Missing values come from the present text.
  const current = new Map([...extractSetterValues(pattern, text), ...given])
  const inversion = invertPattern(pattern, current, wanted)
  if (inversion.is === 'none')
    return createStepObstacle(
      run,
      `no values of ${formatSetterNames(pattern)} make ${JSON.stringify(pattern.text)} the live value`,
    )
  if (inversion.is === 'too-hard')
    return createStepObstacle(
      run,
      `the pattern ${JSON.stringify(pattern.text)} has too many ways to give the live value`,
    )
  const ways = inversion.is === 'one' ? [inversion.changes] : inversion.ways
  return collect(ways.map((changes) => invertOneWay(input, changes, given)))
}

function findPattern({ target, node }: InverseInput): SetterPattern | undefined {
  const entry = findNodeAtPath(target.root, target.path)?.entry
  return (
    findSetterPattern(node?.lineComment ?? '') ?? findSetterPattern(entry?.key.lineComment ?? '')
  )
}

function formatSetterNames({ setters }: SetterPattern): string {
  return setters.length === 1
    ? `the setter ${setters[0]}`
    : `the setters ${[...new Set(setters)].join(', ')}`
}

function invertOneWay(
  input: InverseInput,
  changes: SetterChanges,
  given: ReadonlyMap<string, string>,
): Locations {
  const names = [...changes.keys()].sort()
  const parts = names.map((name) =>
    given.has(name)
      ? findSetterLocation(input, name, changes.get(name))
      : findManifestLocation(input),
  )
  const missing = parts.find(({ candidates }) => candidates.length === 0)
  if (missing !== undefined) return missing
  const chosen = parts.map(({ candidates }) => candidates[0] as Candidate)
  const manifest = names.every((name) => !given.has(name))
  return {
    candidates: [
      {
        via: manifest ? 'manifest' : names.map((name) => `setter:${name}`).join('+'),
        what: [...new Set(chosen.map(({ what }) => what))].join(' and '),
        edits: deduplicateEdits(chosen.flatMap(({ edits }) => edits)),
      },
    ],
    obstacles: [],
  }
}

function findSetterLocation(
  { run, target, finder }: InverseInput,
  name: string,
  value: Wanted,
): Locations {
  const label = { via: `setter:${name}`, what: `the setter ${name} of apply-setters` }
  return finder.locateConfigEntry(
    run,
    [createFieldStep('data'), createFieldStep(name)],
    { wanted: value, depth: target.depth },
    label,
  )
}

/** A setter that is absent from the config keeps the value in the manifest. */
function findManifestLocation({ target, finder }: InverseInput): Locations {
  return finder.findInManifest(target)
}

/** As a whole, by the text of a YAML list, which keeps its style. */
function invertList(input: InverseInput, pattern: SetterPattern): Locations | undefined {
  const setter = findOnlySetter(pattern)
  if (setter === undefined || !isJsonArray(input.target.wanted)) return undefined
  if (input.target.wanted.length === 0) return findSetterLocation(input, setter, '')
  const list = convertJsonToYaml(input.target.wanted)
  const now = getConfigData(input.run.config).get(setter) ?? ''
  if (list.kind === 'list' && now.startsWith('[')) list.style = 'flow'
  const text = writeYamlNode(list)
  return findSetterLocation(input, setter, now.endsWith('\n') ? text : text.trimEnd())
}

function collect(all: readonly Locations[]): Locations {
  if (all.length === 0) return NOWHERE
  return {
    candidates: all.flatMap(({ candidates }) => candidates),
    obstacles: all.flatMap(({ obstacles }) => obstacles),
  }
}
