/** Random packages with a pipeline, kept rendered or not, in which for every field it is known where its value is from. */
import fc from 'fast-check'

/** What a drift of a field has to lead to. */
export interface DriftedField {
  readonly kind: 'ConfigMap' | 'Deployment'
  readonly name: string
  /** Keyed path. */
  readonly path: string
  readonly live: string | number
  /**
   * `yes`: one place feeds this field alone. `no`: its place feeds other fields too, or there is none. `maybe`: it depends on the
   * values, as where a pattern of several setters can be read in two ways.
   */
  readonly invertible: 'yes' | 'no' | 'maybe'
}

export interface RandomPackage {
  readonly files: { readonly [path: string]: string }
  readonly fields: readonly DriftedField[]
}

const word = fc.stringMatching(/^[a-z]{2,6}$/)
const number = fc.integer({ min: 1, max: 40 })

interface SetterUse {
  readonly name: string
  readonly value: string
  uses: number
}

const settings = fc.record({
  inKptfile: fc.boolean(),
  quoted: fc.boolean(),
  labels: fc.boolean(),
  namespace: fc.boolean(),
  image: fc.boolean(),
  selectors: fc.boolean(),
  annotations: fc.boolean(),
  wide: fc.boolean(),
  comments: fc.boolean(),
  together: fc.boolean(),
  data: fc.array(
    fc.record({
      kind: fc.constantFrom('plain', 'setter', 'pattern', 'shared', 'number'),
      value: word,
      other: word,
      live: word,
      count: number,
      liveCount: number,
    }),
    { minLength: 1, maxLength: 5 },
  ),
  replicas: fc.record({ set: fc.boolean(), value: number, live: number }),
  tag: fc.record({
    value: fc.stringMatching(/^[1-9]\.[0-9]$/),
    live: fc.stringMatching(/^[1-9]\.[0-9]{2}$/),
  }),
  level: fc.record({ value: word, live: word }),
})

/** A package with one ConfigMap, one Deployment and up to five functions. */
export const randomPackage: fc.Arbitrary<RandomPackage> = settings.map((given) => {
  const setters = new Map<string, SetterUse>()
  const fields: (DriftedField & { readonly setters: readonly string[] })[] = []
  const setter = (name: string, value: string): string => {
    const known = setters.get(name)
    if (known === undefined) setters.set(name, { name, value, uses: 1 })
    else known.uses += 1
    return setters.get(name)?.value ?? value
  }
  const indent = given.wide ? '  ' : ''
  const quote = (text: string): string => (given.quoted ? `"${text}"` : text)
  const data = given.data.map((each, index) => {
    const key = `key${index}`
    const about = {
      kind: 'ConfigMap' as const,
      name: 'web',
      path: `data.${key}`,
      live: `${each.live}x`,
    }
    if (each.kind === 'plain') fields.push({ ...about, invertible: 'yes', setters: [] })
    if (each.kind === 'plain')
      return `  ${key}: ${quote(each.value)}${given.comments ? ' # plain' : ''}`
    if (each.kind === 'number') {
      const value = setter(`count${index}`, String(each.count))
      fields.push({
        ...about,
        live: String(each.liveCount + 50),
        invertible: 'yes',
        setters: [`count${index}`],
      })
      return `  ${key}: "${value}" # kpt-set: \${count${index}}`
    }
    if (each.kind === 'pattern') {
      const value = `${setter(`left${index}`, each.value)}-${setter(`right${index}`, each.other)}`
      fields.push({
        ...about,
        live: `${each.value}-${each.live}y`,
        invertible: 'maybe',
        setters: [`left${index}`, `right${index}`],
      })
      return `  ${key}: ${quote(value)} # kpt-set: \${left${index}}-\${right${index}}`
    }
    const name = each.kind === 'shared' ? 'shared' : `only${index}`
    const value = setter(name, each.value)
    fields.push({ ...about, invertible: 'yes', setters: [name] })
    return `  ${key}: ${quote(value)} # kpt-set: \${${name}}`
  })
  const replicas = given.replicas.set
    ? setter('replicas', String(given.replicas.value))
    : String(given.replicas.value)
  fields.push({
    kind: 'Deployment',
    name: 'web',
    path: 'spec.replicas',
    live: given.replicas.live + 50,
    invertible: 'yes',
    setters: given.replicas.set ? ['replicas'] : [],
  })
  const container = 'spec.template.spec.containers[name=app]'
  fields.push({
    kind: 'Deployment',
    name: 'web',
    path: `${container}.image`,
    live: `shop/web:${given.tag.live}`,
    invertible: 'yes',
    setters: [],
  })
  fields.push({
    kind: 'Deployment',
    name: 'web',
    path: `${container}.env[name=LEVEL].value`,
    live: `${given.level.live}z`,
    invertible: 'yes',
    setters: [],
  })
  if (given.labels && !given.selectors)
    fields.push({
      kind: 'ConfigMap',
      name: 'web',
      path: 'metadata.labels.team',
      live: 'other',
      invertible: 'no',
      setters: [],
    })
  if (given.labels && given.selectors)
    fields.push({
      kind: 'ConfigMap',
      name: 'web',
      path: 'metadata.labels.team',
      live: 'other',
      invertible: 'yes',
      setters: [],
    })
  if (given.annotations)
    fields.push({
      kind: 'ConfigMap',
      name: 'web',
      path: 'metadata.annotations.owner',
      live: 'bob',
      invertible: 'no',
      setters: [],
    })
  const namespace = given.namespace ? '  namespace: shop\n' : ''
  const metadata = `metadata:\n  name: web\n${namespace}`
  const configMap = `${given.comments ? '# settings\n\n' : ''}apiVersion: v1\nkind: ConfigMap\n${metadata}data:\n${data.join('\n')}\n`
  const deployment = `apiVersion: apps/v1
kind: Deployment
${metadata}spec:
  replicas: ${replicas}${given.replicas.set ? ' # kpt-set: ${replicas}' : ''}
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      ${indent}- name: app
        ${indent}image: shop/web:${given.tag.value}
        ${indent}env:
        ${indent}${indent}- name: LEVEL
        ${indent}  ${indent}value: ${quote(given.level.value)}
`
  const entries = [...setters.values()].map(({ name, value }) => [name, `"${value}"`] as const)
  const functions = [
    ...(entries.length === 0
      ? []
      : [
          given.inKptfile
            ? step('apply-setters', entries)
            : `    - exec: apply-setters\n      configPath: setters.yaml\n`,
        ]),
    ...(given.namespace ? [step('set-namespace', [['namespace', 'shop']])] : []),
    ...(given.labels
      ? [
          step(
            'set-labels',
            [['team', 'store']],
            given.selectors ? '      selectors:\n        - kind: ConfigMap\n' : '',
          ),
        ]
      : []),
    ...(given.annotations ? [step('set-annotations', [['owner', 'ada']])] : []),
    ...(given.image
      ? [
          step('set-image', [
            ['name', 'shop/web'],
            ['newTag', `"${given.tag.value}"`],
          ]),
        ]
      : []),
  ]
  const kptfile = `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\npipeline:\n  mutators:\n${functions.join('') || '    []\n'}`
  const settersFile = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: setters\n  annotations:\n    config.kubernetes.io/local-config: "true"\ndata:\n${entries.map(([name, value]) => `  ${name}: ${value}${given.comments ? ` # of ${name}` : ''}\n`).join('')}`
  const files = {
    Kptfile: kptfile,
    ...(entries.length > 0 && !given.inKptfile ? { 'setters.yaml': settersFile } : {}),
    ...(given.together
      ? { 'all.yaml': `${configMap}---\n${deployment}` }
      : { 'config.yaml': configMap, 'deployment.yaml': deployment }),
  }
  return {
    files,
    fields: fields.map(({ setters: names, ...each }) => ({
      ...each,
      invertible: names.some((name) => (setters.get(name)?.uses ?? 1) > 1)
        ? ('no' as const)
        : each.invertible,
    })),
  }
})

function step(name: string, config: readonly (readonly [string, string])[], more = ''): string {
  return `    - exec: ${name}\n      configMap:\n${config.map(([key, value]) => `        ${key}: ${value}\n`).join('')}${more}`
}
