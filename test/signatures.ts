/**
 * Functions take at most four parameters, and an interface that is the type of a parameter has at most twelve fields. A function is everything
 * with parameters that has a body, and the methods of interfaces. The fields of the interfaces that an interface extends count.
 */
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import ts from 'typescript'
import { filesBehind } from '../.ci/open-doors.ts'

const MOST_PARAMETERS = 4
const MOST_FIELDS = 12
/** What is larger, with as many fields as it may have: values of the domain, ports, subjects of texts. None comes in, and none grows. */
const LARGE: ReadonlyMap<string, number> = new Map([
  // CliContext, and the parts of it that commands take.
  ['src/cli/context/cli-context.ts CliContext', 40],
  ['src/cli/context/cli-context.ts ControllerContext', 38],
  ['src/cli/context/cli-context.ts LedgerContext', 20],
  ['src/cli/context/cli-context.ts TurnContext', 28],
  ['src/cli/print/print-diff.ts DiffView', 13],
  ['src/drift/compare/drift.ts Drift', 18],
  ['src/drift/compare/drift.ts ObjectVerdict', 15],
  ['src/forge/adapter/forge-adapter.ts ForgeAdapter', 14],
  ['src/forge/ports/hosted-forge.ts HostedForge', 23],
  ['src/forge/ports/hosted-forge.ts KnownProposal', 17],
  ['src/kyaml/krm/audit-event.ts AuditedWrite', 13],
  ['src/plan/observation/observation.ts GitState', 22],
  ['src/plan/observation/observation.ts Observation', 23],
  ['src/plan/observation/observation.ts OpenBranch', 16],
  ['src/plan/turn/forge/listed-rules.ts ListedRule', 14],
  ['src/plan/turn/turn-actions.ts PlannedTurn', 16],
  ['src/policy/effective-policy.ts EffectivePolicy', 25],
  ['src/proposal/text/dashboard-subject.ts DashboardSubject', 19],
  ['src/proposal/text/mass-text.ts MassSubject', 20],
  ['src/proposal/text/onboarding-text.ts OnboardingSubject', 19],
  ['src/proposal/text/proposal-subject.ts ProposalSubject', 18],
  ['src/reconcile/observe/read-claimed-inventories.ts KnownInventory', 17],
  ['src/reconcile/repository/read-branches.ts PackageBranch', 13],
  ['src/reconcile/repository/repository-view.ts RepositoryView', 19],
  ['src/reconcile/turn/run-turn.ts TurnResult', 14],
  ['src/sources/build/built-source.ts SyncerBuild', 17],
])

interface Bag {
  readonly own: number
  /** Interfaces whose fields it has too, by file and name. */
  readonly from: readonly string[]
}

/** One sentence for each problem. @param files below `root` */
export function signatureProblems(root: string, files: readonly string[]): string[] {
  const long = new Map<string, number>()
  const bags = new Map<string, Bag>()
  const parameterTypes = new Set<string>()
  for (const file of files) {
    const source = ts.createSourceFile(
      file,
      readFileSync(join(root, file), 'utf8'),
      ts.ScriptTarget.Latest,
      true,
    )
    const keyOf = keysIn(root, source)
    const visit = (node: ts.Node): void => {
      if (isFunction(node) && node.parameters.length > MOST_PARAMETERS)
        long.set(`${file} ${nameOf(node)}`, node.parameters.length)
      if (ts.isParameter(node) && node.type !== undefined && ts.isTypeReferenceNode(node.type))
        parameterTypes.add(keyOf(node.type.typeName))
      if (ts.isInterfaceDeclaration(node)) bags.set(`${file} ${node.name.text}`, bagOf(node, keyOf))
      ts.forEachChild(node, visit)
    }
    visit(source)
  }
  const large = new Map<string, number>()
  for (const key of bags.keys()) {
    const fields = fieldsOf(key, bags)
    if (parameterTypes.has(key) && fields > MOST_FIELDS) large.set(key, fields)
  }
  return [
    ...[...long].map(
      ([key, count]) => `${key} takes ${count} parameters, the limit is ${MOST_PARAMETERS}`,
    ),
    ...[...large]
      .filter(([key, count]) => count !== LARGE.get(key))
      .map(
        ([key, count]) =>
          `${key} has ${count} fields, the limit is ${LARGE.get(key) ?? MOST_FIELDS}`,
      ),
    ...[...LARGE.keys()]
      .filter((key) => !large.has(key))
      .map((key) => `${key} is not large: take it off the list of test/signatures.ts`),
  ]
}

/** File and name of a type, as a file names it. */
function keysIn(root: string, source: ts.SourceFile): (name: ts.Node) => string {
  const files = new Map<string, string>()
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier))
      continue
    const names = statement.importClause?.namedBindings
    if (names === undefined || !ts.isNamedImports(names)) continue
    const [, door] = /^@backporch\/(.+)$/.exec(statement.moduleSpecifier.text) ?? []
    const behind = door === undefined ? undefined : filesBehind(root, door)
    for (const { name } of names.elements) {
      const file = behind?.get(name.text)
      const path =
        door === undefined
          ? join(dirname(source.fileName), statement.moduleSpecifier.text)
          : `src/${door}.ts`
      files.set(name.text, file === undefined ? path : relative(root, file))
    }
  }
  return (name) => `${files.get(name.getText()) ?? source.fileName} ${name.getText()}`
}

function isFunction(node: ts.Node): node is ts.SignatureDeclaration {
  return ts.isFunctionLike(node) && !ts.isFunctionTypeNode(node)
}

function nameOf(node: ts.SignatureDeclaration): string {
  if (node.name !== undefined) return node.name.getText()
  const { parent } = node
  if (ts.isConstructorDeclaration(node)) return 'constructor'
  return (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) &&
    parent.name !== undefined
    ? parent.name.getText()
    : 'function'
}

function bagOf(node: ts.InterfaceDeclaration, keyOf: (name: ts.Node) => string): Bag {
  let own = node.members.length
  const from: string[] = []
  for (const { expression, typeArguments: [type, names] = [] } of node.heritageClauses?.flatMap(
    ({ types }) => types,
  ) ?? []) {
    const wrapper = expression.getText()
    if (type === undefined || (wrapper !== 'Pick' && wrapper !== 'Omit'))
      from.push(keyOf(expression))
    else if (wrapper === 'Pick') own += countOf(names)
    else {
      own -= countOf(names)
      from.push(keyOf(type))
    }
  }
  return { own, from }
}

function countOf(type: ts.TypeNode | undefined): number {
  return type !== undefined && ts.isUnionTypeNode(type) ? type.types.length : 1
}

function fieldsOf(key: string, bags: ReadonlyMap<string, Bag>): number {
  const { own, from } = bags.get(key) ?? { own: 0, from: [] }
  return from.reduce((sum, parent) => sum + fieldsOf(parent, bags), own)
}
