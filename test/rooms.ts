/**
 * The order of the rooms, held by dependency-cruiser (docs/adr/0003): a file imports only from its own room or a room
 * above it, type imports included, and nothing goes in circles. Signatures and names are held too (test/signatures.ts, test/names.ts). Fails when it cruised fewer modules than there are
 * sources, because a version of the tool that reads nothing would be green (seen: dependency-cruiser 17 with TypeScript 7).
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cruise, type IFlattenedRuleSet } from 'dependency-cruiser'
import { nameProblems } from './names.ts'
import { drawRooms, withDrawing } from './rooms-drawing.ts'
import { signatureProblems } from './signatures.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Workspaces below `src/`: imported by name, through the doors that their package.json exports. Each knows those before it, and nothing else of ours. */
const LIBRARIES = ['kyaml', 'kpt', 'system', 'git-store', 'cluster', 'forge'] as const
/** Libraries without effects. Of the others, pure rooms know types and `ports/` alone. */
const PURE_LIBRARIES = ['kyaml', 'kpt'] as const
const ROOMS = [
  'ports',
  'syncers',
  'drift',
  'sources',
  'status',
  'record',
  'proposal',
  'policy',
  'drift-functions',
  'plan',
  'reconcile',
  'adapters',
  'controller',
] as const
/** Without effects. */
const PURE = [...PURE_LIBRARIES, ...ROOMS.slice(0, ROOMS.indexOf('reconcile'))]
/** Packages that pure code may use. */
const PURE_PACKAGES = [
  'node:crypto',
  'crypto',
  'yaml',
  'zod',
  're2js',
  'croner',
  'lru-cache',
  '@secretlint/secretlint-rule-preset-recommend',
]
const LINE_LIMIT = 400
/** A map at the top of a module that the module writes to, and a variable there: what a pure room knows is given to it. */
const STATE =
  /^(?:export )?(?:const (\w+)\b[^\n]*= new (?:WeakMap|WeakSet|Map|Set|LRUCache)\b|let (\w+)\b)/gm
/** Known values of pure functions of one text or object, which nobody can hand to them yet (docs/adr/0048). None comes in. */
const STATE_LEFT = [
  'src/kyaml/krm/field-path.ts',
  'src/kyaml/krm/known-fields.ts',
  'src/kyaml/krm/managed-fields.ts',
  'src/kyaml/krm/redaction/credential-text.ts',
  'src/kyaml/krm/redaction/rule-library.ts',
  'src/drift/noise/rule-expression.ts',
]
/** Of a library. */
const MOST_DOORS = 12
const FORBIDDEN_NAMES = /(^|\/)(index|utils?|helpers?|common|misc)\.ts$/

const sources = ['src', 'functions']
  .flatMap((folder) => listFiles(join(root, folder)))
  .filter((file) => file.endsWith('.ts'))

const forbidden = [
  { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
  { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ...ROOMS.map((room, index) => ({
    name: `${room}-imports-only-from-above`,
    severity: 'error',
    from: { path: pathOf(room) },
    to: { path: '^src/', pathNot: [...LIBRARIES, ...ROOMS.slice(0, index + 1)].map(pathOf) },
  })),
  ...LIBRARIES.flatMap((library, index) => [
    {
      name: `${library}-knows-only-libraries-before-it`,
      severity: 'error',
      from: { path: pathOf(library), pathNot: '\\.test\\.ts$' },
      to: { path: '^(src|functions)/', pathNot: LIBRARIES.slice(0, index + 1).map(pathOf) },
    },
    {
      name: `${library}-is-entered-by-its-doors`,
      severity: 'error',
      from: { pathNot: pathOf(library) },
      to: {
        path: pathOf(library),
        pathNot: doorsOf(library).map((door) => `^src/${library}/${door}$`),
      },
    },
  ]),
  {
    name: 'pure-rooms-import-no-libraries',
    severity: 'error',
    from: { path: PURE.map(pathOf), pathNot: '\\.test\\.ts$' },
    to: { pathNot: ['^src/', ...PURE_PACKAGES.map((name) => `(^|node_modules/)${name}($|/)`)] },
  },
  {
    name: 'pure-rooms-know-ports-of-libraries-with-effects',
    severity: 'error',
    from: { path: PURE.map(pathOf), pathNot: '\\.test\\.ts$' },
    to: {
      path: LIBRARIES.map(pathOf),
      pathNot: [...PURE_LIBRARIES.map(pathOf), ...portDoors()],
      dependencyTypesNot: ['type-only'],
    },
  },
  {
    name: 'ports-of-libraries-are-pure',
    severity: 'error',
    from: { path: '^src/[^/]+/ports/', pathNot: '\\.test\\.ts$' },
    to: {
      pathNot: ['^src/[^/]+/ports/', ...PURE_LIBRARIES.map(pathOf)],
      dependencyTypesNot: ['type-only'],
    },
  },
  {
    // A function is a function of its input: what it may know is what pure rooms know.
    name: 'functions-import-only-from-pure-rooms',
    severity: 'error',
    from: {
      path: '^functions/[^/]+/',
      pathNot: ['^functions/sdk/', '\\.test\\.ts$', '/run\\.ts$', '/write-[^/]+\\.ts$'],
    },
    to: {
      pathNot: [
        '^functions/',
        ...PURE.map(pathOf),
        ...portDoors(),
        ...PURE_PACKAGES.map((name) => `(^|node_modules/)${name}($|/)`),
      ],
    },
  },
  {
    // What runs a function as a program reads and writes, and nothing more: whoever writes a function finds it beside.
    name: 'functions-stand-below-the-adapters',
    severity: 'error',
    from: { path: '^functions/', pathNot: '\\.test\\.ts$' },
    to: { path: '^src/', pathNot: [...PURE.map(pathOf), ...portDoors()] },
  },
  {
    name: 'functions-are-known-to-their-adapter-alone',
    severity: 'error',
    from: { path: '^src/', pathNot: ['^src/adapters/functions/', '\\.test\\.ts$'] },
    to: { path: '^functions/' },
  },
  {
    name: 'the-log-library-is-known-to-its-adapter-alone',
    severity: 'error',
    from: { path: '^(src|functions)/', pathNot: '^src/adapters/log/' },
    to: { path: '(^|node_modules/)pino($|[-/])' },
  },
  {
    name: 'the-metrics-library-is-known-to-its-adapter-alone',
    severity: 'error',
    from: { path: '^(src|functions)/', pathNot: '^src/adapters/metrics/' },
    to: { path: '(^|node_modules/)prom-client($|/)' },
  },
  {
    name: 'adapters-do-not-know-each-other',
    severity: 'error',
    from: { path: '^src/adapters/([^/]+)/', pathNot: '\\.test\\.ts$' },
    to: { path: '^src/adapters/([^/]+)/', pathNot: '^src/adapters/($1|system)/' },
  },
]

const answer = await cruise(
  ['src', 'functions'],
  {
    ruleSet: { forbidden } as IFlattenedRuleSet,
    validate: true,
    baseDir: root,
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.test\\.ts$' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['node', 'import', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.cjs'],
    },
  },
  {},
  {},
)
if (typeof answer.output === 'string')
  throw new Error('dependency-cruiser gave text where a result was wanted')
const { summary, modules } = answer.output

const problems = summary.violations.map(
  (violation) => `${violation.rule.name}: ${violation.from} -> ${violation.to}`,
)
const cruised = modules.filter((module) => /^(src|functions)\/.*\.ts$/.test(module.source)).length
const wanted = sources.filter((file) => !file.endsWith('.test.ts')).length
if (cruised < wanted) problems.push(`only ${cruised} of ${wanted} sources were cruised`)
const arrows = modules.reduce((sum, module) => sum + module.dependencies.length, 0)
if (arrows < cruised)
  problems.push(
    `only ${arrows} imports were seen in ${cruised} modules: the tool does not read them`,
  )
for (const file of sources) {
  const text = readFileSync(join(root, file), 'utf8')
  const lines = text.split('\n').length - 1
  if (lines > LINE_LIMIT) problems.push(`${file} has ${lines} lines, the limit is ${LINE_LIMIT}`)
  if (FORBIDDEN_NAMES.test(file)) problems.push(`${file}: a file is named for what it exports`)
  if (!isPure(file) || file.endsWith('.test.ts')) continue
  const state = [...text.matchAll(STATE)].map(([, map, variable]) => variable ?? map ?? '')
  const written = state.filter((name) =>
    new RegExp(`\\b${name}(?:\\.(?:set|add|delete|clear)\\(| [-+]?= )`).test(
      text.replace(STATE, ''),
    ),
  )
  if (written.length > 0 !== STATE_LEFT.includes(file))
    problems.push(
      `${file}: module-level state ${written.join(', ') || 'is gone: take the file off the list'}`,
    )
}
problems.push(...folderCircles())
problems.push(
  ...signatureProblems(
    root,
    sources.filter((file) => file.startsWith('src/') && !file.endsWith('.test.ts')),
  ),
)
problems.push(
  ...nameProblems(
    root,
    sources.filter((file) => !file.endsWith('.test.ts')),
  ),
)
const design = join(root, 'docs/design.md')
const drawn = withDrawing(readFileSync(design, 'utf8'), drawRooms(importsOfOurs(), LIBRARIES))
if (process.argv.includes('--write')) writeFileSync(design, drawn)
else if (drawn !== readFileSync(design, 'utf8'))
  problems.push('docs/design.md: the drawing is of other rooms: npm run rooms -- --write')
for (const problem of problems) console.error(problem)
console.log(`rooms: ${cruised} modules, ${arrows} imports, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1

function isPure(file: string): boolean {
  return PURE.some((room) => new RegExp(pathOf(room)).test(file))
}

function pathOf(room: string): string {
  return `^src/${room}/`
}

function importsOfOurs(): readonly (readonly [from: string, to: string])[] {
  return modules
    .flatMap(({ source, dependencies }) =>
      dependencies.map(({ resolved }) => [source, resolved] as const),
    )
    .filter(([from, to]) => [from, to].every((file) => /^(?:src|functions)\//.test(file)))
}

/** Folders that import each other, directly or through others. A door of a library counts as a folder of its own. */
function folderCircles(): readonly string[] {
  const doors = new Set(
    LIBRARIES.flatMap((library) => doorsOf(library).map((door) => `src/${library}/${door}`)),
  )
  const folderOf = (file: string): string => (doors.has(file) ? file : dirname(file))
  const arrows = new Map<string, Set<string>>()
  for (const [source, resolved] of importsOfOurs()) {
    const [from, to] = [folderOf(source), folderOf(resolved)]
    if (from !== to) arrows.set(from, (arrows.get(from) ?? new Set()).add(to))
  }
  const reaches = (from: string): ReadonlySet<string> => {
    const reached = new Set(arrows.get(from))
    for (const folder of reached) for (const next of arrows.get(folder) ?? []) reached.add(next)
    return reached
  }
  return [...arrows.keys()]
    .filter((folder) => reaches(folder).has(folder))
    .map((folder) => `${folder}: it is in a circle of folders`)
}

/** Files that a library exports. */
function doorsOf(library: string): readonly string[] {
  const { exports } = JSON.parse(
    readFileSync(join(root, 'src', library, 'package.json'), 'utf8'),
  ) as {
    readonly exports: Readonly<Record<string, string>>
  }
  const doors = Object.values(exports).map((path) => path.replace(/^\.\//, ''))
  if (doors.length > MOST_DOORS)
    throw new Error(`src/${library} has ${doors.length} doors, the limit is ${MOST_DOORS}`)
  return doors
}

/** Doors that open on the ports of their library and on nothing else. */
function portDoors(): readonly string[] {
  return LIBRARIES.flatMap((library) =>
    doorsOf(library).map((door) => `src/${library}/${door}`),
  ).filter((door) => {
    const origins = [...readFileSync(join(root, door), 'utf8').matchAll(/ from '([^']+)'/g)].map(
      ([, origin = '']) => origin,
    )
    return origins.length > 0 && origins.every((origin) => origin.startsWith('./ports/'))
  })
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort()
}
