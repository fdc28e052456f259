import {
  extractSetterValues,
  invertPattern,
  onlySetter,
  type SetterChanges,
  type SetterPattern,
  setterPatternOf,
} from '@backporch/kpt/field'
import { configData } from '@backporch/kpt/function'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { field } from '@backporch/kyaml/field'
import { isJsonArray } from '@backporch/kyaml/json'
import { nodeAtPath, resolved, yamlOf } from '@backporch/kyaml/yaml'
import { type Candidate, type Locations, NOWHERE, type Wanted } from '../../locate/candidate.ts'
import { uniqueEdits } from '../../locate/combine-locations.ts'
import { type Inverse, type InverseInput, obstacle } from './find-locations.ts'

export const invertSetters: Inverse = (input) => {
  const { target, run, finder } = input
  const pattern = patternAt(input)
  if (pattern === undefined) return undefined
  const given = configData(run.config)
  // A setter cannot remove or add a field: the field is removed with its comment.
  if (target.wanted === undefined) return finder.manifest(target)
  if (isJsonArray(target.wanted)) return invertList(input, pattern)
  if (typeof target.wanted === 'object' && target.wanted !== null) return undefined
  const wanted = String(target.wanted)
  const now = input.node === undefined ? undefined : resolved(input.node)
  const text = now?.kind === 'scalar' ? now.value : ''
  // Missing values come from the present text.
  const current = new Map([...extractSetterValues(pattern, text), ...given])
  const inversion = invertPattern(pattern, current, wanted)
  if (inversion.is === 'none')
    return obstacle(
      run,
      `no values of ${setterNames(pattern)} make ${JSON.stringify(pattern.text)} the live value`,
    )
  if (inversion.is === 'too-hard')
    return obstacle(
      run,
      `the pattern ${JSON.stringify(pattern.text)} has too many ways to give the live value`,
    )
  const ways = inversion.is === 'one' ? [inversion.changes] : inversion.ways
  return collect(ways.map((changes) => oneWay(input, changes, given)))
}

function patternAt({ target, node }: InverseInput): SetterPattern | undefined {
  const entry = nodeAtPath(target.root, target.path)?.entry
  return setterPatternOf(node?.lineComment ?? '') ?? setterPatternOf(entry?.key.lineComment ?? '')
}

function setterNames({ setters }: SetterPattern): string {
  return setters.length === 1
    ? `the setter ${setters[0]}`
    : `the setters ${[...new Set(setters)].join(', ')}`
}

function oneWay(
  input: InverseInput,
  changes: SetterChanges,
  given: ReadonlyMap<string, string>,
): Locations {
  const names = [...changes.keys()].sort()
  const parts = names.map((name) =>
    given.has(name) ? setterLocation(input, name, changes.get(name)) : manifestLocation(input),
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
        edits: uniqueEdits(chosen.flatMap(({ edits }) => edits)),
      },
    ],
    obstacles: [],
  }
}

function setterLocation(
  { run, target, finder }: InverseInput,
  name: string,
  value: Wanted,
): Locations {
  const label = { via: `setter:${name}`, what: `the setter ${name} of apply-setters` }
  return finder.configEntry(
    run,
    [field('data'), field(name)],
    { wanted: value, depth: target.depth },
    label,
  )
}

/** A setter that is absent from the config keeps the value in the manifest. */
function manifestLocation({ target, finder }: InverseInput): Locations {
  return finder.manifest(target)
}

/** As a whole, by the text of a YAML list, which keeps its style. */
function invertList(input: InverseInput, pattern: SetterPattern): Locations | undefined {
  const setter = onlySetter(pattern)
  if (setter === undefined || !isJsonArray(input.target.wanted)) return undefined
  if (input.target.wanted.length === 0) return setterLocation(input, setter, '')
  const list = yamlOf(input.target.wanted)
  const now = configData(input.run.config).get(setter) ?? ''
  if (list.kind === 'list' && now.startsWith('[')) list.style = 'flow'
  const text = writeYamlNode(list)
  return setterLocation(input, setter, now.endsWith('\n') ? text : text.trimEnd())
}

function collect(all: readonly Locations[]): Locations {
  if (all.length === 0) return NOWHERE
  return {
    candidates: all.flatMap(({ candidates }) => candidates),
    obstacles: all.flatMap(({ obstacles }) => obstacles),
  }
}
