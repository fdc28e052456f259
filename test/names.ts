/**
 * Functions begin with a verb, and `''` is not a word for "none" outside documents. Both are counted, and no count may grow:
 * what a file of src or functions adds fits the rule, and a limit is lowered when names or texts change.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** Functions at the top of a module and members of classes whose name begins with no verb of the list below. */
const MOST_WITHOUT_VERB = 3
/** Comparisons with `''`. */
const MOST_EMPTY_TEXTS = 691

/** Base forms, and the third person of predicates. A noun that is a verb too (plan, report) counts as one. */
const VERBS = new Set(
  `
abort accept acknowledge add adjust admit adopt advance advertise align allow amend annotate
announce answer append apply approve archive are arrive ask assemble assert assess assign attach
attempt attribute audit authorise authorize await back begin bind blame block borrow break bring
build bundle cache calculate call can cancel capitalize capture carry cast catch change check
choose claim classify clean clear clip clone close collapse collect combine commit compact compare
compile complete compose compress compute concatenate conclude confirm connect consider construct
consume contain contains continue convert copy correct count cover covers crash create cut date
deal debounce decide declare decode decrypt deduplicate defer define delay delete deliver demand
deny derive describe deserialize detach detect determine did diff differ differs digest discard
discover dispatch display dispose distinguish divide do does download drain draw drop dry dump
edit elect emit empty enable encode encrypt end enforce enlarge enqueue ensure enter enumerate
erase escape establish estimate evaluate evict exchange exclude execute exit expand expect expire
explain explore export expose extend extract fail fetch fill filter find finish fit fits fix flag
flatten flush fold follow follows forbid force forget fork format forward free freeze fulfil
gate gather generate get give go grade grant greet group grow guard guess halt halve hand handle has
hash have hear help hide hint hold holds identify ignore ignores implement import include includes
increment indent index infer inflate inherit init initialize inject insert inspect install
intersect introduce invert invoke is isolate issue iterate join judge keep keeps kill know label
land launch lay lead learn leave leaves lengthen let level lift limit link list listen load locate
lock log look lookup loop lose lower make map mark mask match matches may measure meet meets mend
merge migrate mimic miss mock modify monitor mount move moves must mutate mute name narrow
navigate need needs negate nest normalise normalize note notify number observe obtain occurs offer
omit open operate order overlap overlaps overlay override owns pace pack pad page pair parse
partition pass patch pause perform permit persist phrase pick pin pipe place plan point poll pop
populate post postpone predict prefer prefix prepare preserve press prevent preview print produces
prioritise probe proceed process produce project promise promote prompt propose protect prove
provide prune publish pull push put qualify query queue quote raise rank rate reach reaches react
read reads reapply rebase rebuild recall receive recognise recognize recompute reconcile reconnect
record recover recreate recurse redact redirect reduce refer refers refill refine reflect reformat
refresh refuse regenerate register reject relabel relate relay release reload remember remind
remove rename render renders renew reopen reorder repair repeat replace replay report represent
request require requires reread reserve reset resolve respond restart restore restrict restyle
resume retain retry return reuse reveal reverse revert review revise revoke rewind rewrap rewrite
roll rotate round route run sample sanitize satisfies save say scale scan schedule score seal
search see seed seek select selects send separate serialize serve set settle share shift shorten
should show shrink shuffle shut sign signal silence simplify simulate skip sleep slice snooze
solve sort speak specify spend splice split spread squash stage stamp start state stay stays step
stop store stream strip style submit subscribe substitute subtract suggest sum summarise summarize
supply supports suppress suspect suspend swap sweep switch sync synthesize tag take takes tally
tell terminate test throttle throw tick time toggle tokenize touch touches trace track transform
translate transmit transpose traverse treat trigger trim truncate trust try turn type unblock undo
unescape unfold unify unindent uninstall union unlink unlock unpack unquote unregister unseal
unset unwrap update upgrade upload upsert use uses validate vary verify view visit vote wait waits
wake walk want wants warn was wash watch weigh were widen will wire withdraw withhold work wrap
write writes yield
`
    .trim()
    .split(/\s+/),
)

/** One sentence for each count that grew or fell. @param files below `root` */
export function nameProblems(root: string, files: readonly string[]): string[] {
  const without: string[] = []
  let empty = 0
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8')
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
    const visit = (node: ts.Node): void => {
      if (comparesWithEmptyText(node)) empty++
      const name = readFunctionName(node)
      if (name !== undefined && !beginsWithVerb(name)) without.push(`${file} ${name}`)
      ts.forEachChild(node, visit)
    }
    visit(source)
  }
  const problems: string[] = []
  if (without.length > MOST_WITHOUT_VERB)
    problems.push(
      `${without.length} functions do not begin with a verb, the limit is ${MOST_WITHOUT_VERB}: rename what you added (all: ${without.join(', ')})`,
    )
  if (empty > MOST_EMPTY_TEXTS)
    problems.push(
      `${empty} comparisons with '', the limit is ${MOST_EMPTY_TEXTS}: a text that is absent is undefined`,
    )
  if (without.length < MOST_WITHOUT_VERB || empty < MOST_EMPTY_TEXTS)
    problems.push(
      `test/names.ts: lower the limits to ${without.length} functions without a verb and ${empty} comparisons with ''`,
    )
  return problems
}

/** `planOf` is a noun, although `plan` is a verb too. */
function beginsWithVerb(name: string): boolean {
  const plain = name.replace(/^[#_]/, '')
  const [word = ''] = /^[a-z]+|^[A-Z][a-z]*/.exec(plain) ?? []
  return VERBS.has(word.toLowerCase()) && !/^[a-z]+Of$/.test(plain)
}

/** Functions and function-valued constants at the top of a module; members of classes. */
function readFunctionName(node: ts.Node): string | undefined {
  if (ts.isFunctionDeclaration(node)) return isAtTop(node) ? node.name?.text : undefined
  if (ts.isMethodDeclaration(node))
    return ts.isClassLike(node.parent) && !ts.isComputedPropertyName(node.name) && isAtTop(node)
      ? node.name.getText()
      : undefined
  const valued = ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node)
  if (!valued || node.initializer === undefined || !isAtTop(node)) return undefined
  const { initializer } = node
  return ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer)
    ? node.name.getText()
    : undefined
}

function isAtTop(node: ts.Node): boolean {
  for (let parent = node.parent; parent !== undefined; parent = parent.parent)
    if (ts.isFunctionLike(parent) || ts.isObjectLiteralExpression(parent)) return false
  return true
}

function comparesWithEmptyText(node: ts.Node): boolean {
  return (
    ts.isBinaryExpression(node) &&
    [ts.SyntaxKind.EqualsEqualsEqualsToken, ts.SyntaxKind.ExclamationEqualsEqualsToken].includes(
      node.operatorToken.kind,
    ) &&
    [node.left, node.right].some((side) => ts.isStringLiteral(side) && side.text === '')
  )
}
