/**
 * Writes kustomize-edits.json: what the commands of Argo CD (argo-cd 3.2.0 `util/kustomize/kustomize.go`, Build) leave of each kustomization
 * of cases.ts, or null where one of them fails. Needs kustomize 5.7.0: node test/corpus/argo/record.ts PATH/TO/kustomize
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isJsonObject, type Json, type JsonObject, filterObjects, getPartAt, getTextAt, filterTexts } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { BESIDE, KUSTOMIZATIONS, OPTIONS } from './cases.ts'

const [, , kustomize = 'kustomize'] = process.argv

function edited(text: string, options: JsonObject): Json {
  const root = mkdtempSync(join(tmpdir(), 'kustomize-edits-'))
  for (const [path, content] of Object.entries({ ...BESIDE, 'app/kustomization.yaml': text })) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const file = join(root, 'app/kustomization.yaml')
  const read = (): JsonObject => {
    const value = parseGoYaml(readFileSync(file, 'utf8'), file).documents[0]?.value
    return isJsonObject(value) ? value : {}
  }
  try {
    for (const command of commandsOf(options)) execFileSync(kustomize, ['edit', ...command], { cwd: join(root, 'app'), stdio: 'pipe' })
    const patches = filterObjects(options['patches'])
    return patches.length === 0 ? read() : { ...read(), patches: [...filterObjects(read()['patches']), ...patches] }
  } catch {
    return null
  } finally {
    rmSync(root, { recursive: true })
  }
}

function commandsOf(options: JsonObject): readonly (readonly string[])[] {
  const text = (name: string): string => getTextAt(options, name)
  const flag = (name: string, written: string): readonly string[] => (options[name] === true ? [written] : [])
  const pairs = (name: string): readonly string[] => {
    const value = getPartAt(options, name)
    return isJsonObject(value) ? Object.entries(value).map(([key, each]) => `${key}:${each}`) : []
  }
  const some = (before: readonly string[], list: readonly string[]): readonly (readonly string[])[] =>
    list.length === 0 ? [] : [[...before, ...list]]
  const replicas = filterObjects(options['replicas']).map(({ name, count }) => `${name}=${count}`)
  const components = filterTexts(options['components']).filter((each) => options['ignoreMissingComponents'] !== true || each !== '../none')
  return [
    ...(text('namePrefix') === '' ? [] : [['set', 'nameprefix', '--', text('namePrefix')]]),
    ...(text('nameSuffix') === '' ? [] : [['set', 'namesuffix', '--', text('nameSuffix')]]),
    ...some(['set', 'image'], filterTexts(options['images'])),
    ...some(['set', 'replicas'], replicas),
    ...some(
      [
        ...['add', 'label', ...flag('forceCommonLabels', '--force')],
        ...flag('labelWithoutSelector', '--without-selector'),
        ...flag('labelIncludeTemplates', '--include-templates'),
      ],
      pairs('commonLabels'),
    ),
    ...some(['add', 'annotation', ...flag('forceCommonAnnotations', '--force')], pairs('commonAnnotations')),
    ...(text('namespace') === '' ? [] : [['set', 'namespace', '--', text('namespace')]]),
    ...some(['add', 'component'], components),
  ]
}

const rows = Object.entries(KUSTOMIZATIONS).flatMap(([name, text]) => OPTIONS.map((options) => ({ name, options, edited: edited(text, options) })))
writeFileSync(new URL('kustomize-edits.json', import.meta.url), `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`)
