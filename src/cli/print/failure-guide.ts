/** A failure's own message names the exact location. */
import type { FailureCode } from '@backporch/kyaml/failure'

interface FailureGuide {
  /** Most frequent first. */
  readonly cause: string
  /** What to do, as an imperative. */
  readonly fix: string
}

export const FAILURE_GUIDE: { readonly [code in FailureCode]: FailureGuide } = {
  BP1001: {
    cause:
      'a command, a flag or a value is misspelt or missing, two of them contradict each other, or what one names cannot be used',
    fix: 'do what the fix line says; backporch COMMAND --help lists the arguments and flags with their values',
  },
  BP1002: {
    cause: 'the folder lies in no git repository, or the address answers, and not as a git server',
    fix: 'give --repo the path of a clone, or the address of the repository',
  },
  BP1003: {
    cause:
      'the name is misspelt, the branch was deleted, nothing is committed yet, or a commit is checked out instead of a branch (CI)',
    fix: 'name one of the branches that the message lists with --branch, push a first commit, or name the repository itself with --repo',
  },
  BP1004: {
    cause:
      'a package is a folder with a file named Kptfile in the commit, and neither this folder nor one above it has one',
    fix: 'name one of those that backporch get packages lists; compare a folder of manifests as it is with --path FOLDER, or paths of a Placement; or run kpt pkg init in it and commit the Kptfile',
  },
  BP1005: {
    cause:
      'a file in .drift/, or the file of --config, is not YAML, or has a field or a value that policies, placements and the configuration do not have',
    fix: 'correct the lines that are named, those in .drift/ on the base branch; until then the last good policy decides, and nothing is opened, merged or settled by it',
  },
  BP1006: {
    cause:
      'the file does not exist or is not a kubeconfig, it has no such context, or what its context names is missing or unusable',
    fix: 'give --kubeconfig and --context that kubectl can use too',
  },
  BP1007: {
    cause:
      'the path of an Argo CD Application or a Flux Kustomization holds the folder .drift/, and its files would be applied to the cluster',
    fix: 'point the syncer at the folders of the packages, or exclude .drift from what it reads',
  },
  BP1008: {
    cause: 'its user needs an exec plugin, and a kubeconfig must not start programs',
    fix: 'review the program, then allow it by its absolute path with --kubeconfig-exec-allow, or use a token',
  },
  BP1009: {
    cause:
      'BACKPORCH_KEY, or the key file, has fewer than 32 characters, or the file cannot be read or created',
    fix: 'set BACKPORCH_KEY to at least 32 random characters, as openssl rand -hex 32 prints them, the same on every machine',
  },
  BP1010: {
    cause:
      'the file or folder of --live does not exist, is not YAML or JSON, or contains something that is not a cluster object',
    fix: 'record it again with kubectl get -o yaml --show-managed-fields',
  },
  BP1011: {
    cause:
      'no current change has this number, field or object; the cluster or git may have changed since',
    fix: 'run backporch diff, and name a number (1,3), a number with a field (2:spec.replicas) or an object (deployment/web)',
  },
  BP1012: {
    cause:
      'what BACKPORCH_SIGNING_KEY_FILE, BACKPORCH_SIGNING_KEY or BACKPORCH_ALLOWED_SIGNERS_FILE gives cannot be read, has a passphrase, is of another type than ssh-ed25519, or is damaged',
    fix: "create a key with ssh-keygen -t ed25519 -N '' -C backporch -f signing-key, and pass that file; backporch check reports whether it is usable",
  },
  BP1101: {
    cause: 'the file is empty, has several documents, or is of another kind or version',
    fix: 'give it apiVersion: kpt.dev/v1, kind: Kptfile and metadata.name',
  },
  BP1102: {
    cause: 'metadata.name of the Kptfile is missing or empty; kpt also refuses the package',
    fix: 'give the package a name, such as that of its folder',
  },
  BP1103: {
    cause: 'a field is misspelt or at the wrong level; kpt also refuses the package',
    fix: 'write the field that the message names, or remove it',
  },
  BP1104: {
    cause:
      'it has neither image nor exec or both of them, several configs, or a config that is not an object of the package',
    fix: 'correct the function in the Kptfile at the line that is named',
  },
  BP1110: {
    cause:
      'the file has a mistake in its indentation, its quotes or its keys, or is a template instead of YAML',
    fix: 'correct the line that is named, or name the file in .krmignore if kpt must not read it',
  },
  BP1111: {
    cause:
      'a file, a package, its nesting or its expanded anchors exceed the limits (docs/guides/limits.md#how-much-is-read)',
    fix: 'split the file, or take it out of the package; if the turn is too large, select fewer packages',
  },
  BP1112: {
    cause:
      'a document of the package lacks apiVersion, kind or metadata.name, or a function gave it a value that JSON does not have',
    fix: 'complete the document, or name the file in .krmignore if kpt must not read it',
  },
  BP1113: {
    cause: 'two files, or two documents of one, have the same kind, namespace and name',
    fix: 'keep one of the two',
  },
  BP1201: {
    cause:
      'the function, or this release of it, is not built in, and no other runtime is allowed; or the allowed runtime is not available: the program, docker or podman, or the image',
    fix: 'use a release that is built in (docs/guides/functions.md), allow the program or image with --allow-exec or --allow-image, or install or start what the why line names',
  },
  BP1202: {
    cause:
      'the function ended with an error: its config or a resource is invalid, or a validator failed',
    fix: 'correct the problem in the why line, which quotes the function, and commit; backporch render shows the result',
  },
  BP1203: {
    cause:
      'it took too long, too much memory, or printed too much (docs/guides/functions.md has the limits)',
    fix: 'give the function less to do, split the package, or correct the function; the limits are fixed',
  },
  BP1204: {
    cause:
      'a function printed no ResourceList, left out the resources, or put one outside of the package or two at one place',
    fix: 'correct the function: it has to print a ResourceList with all resources that should stay',
  },
  BP1205: {
    cause:
      'a program or image was run twice with the same input, and gave other objects, or another order of them, as with dates and random values',
    fix: 'remove everything from the function that does not depend on its input; until then nothing is proposed for the package',
  },
  BP1206: {
    cause:
      'the Kptfile names a program or an image, and only the operator decides which programs run; a file of the repository cannot',
    fix: 'review it, then allow it with --allow-exec or --allow-image, or use a built-in function',
  },
  BP1207: {
    cause:
      'a function is not idempotent: a second render changes the rendered package again, so no edit of a file can be proven',
    fix: 'make the function that writes the field idempotent, or choose restore',
  },
  BP1208: {
    cause:
      'a folder has a kustomization or a chart, or spec.render of a policy names kustomize, helm or a command; a program runs only where the command line or the environment allows it',
    fix: 'allow it with --allow-render or for all commands with BACKPORCH_ALLOW_RENDER, in the words of the policy (kubectl for kustomize, helm for charts), or correct spec.render',
  },
  BP1209: {
    cause:
      'kubectl kustomize or the command of the policy was not found, failed, or printed different output in two runs',
    fix: 'correct the problem in the why line, and run the program by hand in the folder of the package',
  },
  BP1210: {
    cause:
      'the kustomization names an address, a chart, a plugin, a symbolic link or a path out of the repository',
    fix: 'commit what it names to the repository, or render the package with a command of yours (docs/guides/rendering.md)',
  },
  BP1211: {
    cause:
      'sops is allowed, and it has no key that opens the file, or the file was edited without the key. Values are judged by who wrote them',
    fix: 'give the age key in SOPS_AGE_KEY_FILE, or restore the file and change it with sops edit (docs/guides/encrypted.md)',
  },
  BP2001: {
    cause:
      'no edit of an authored file gives the live value without other changes: a function computes it, or other fields share the location. Or the value would be lost after a Release',
    fix: 'edit the file by hand and commit it, or choose another resolution for this change',
  },
  BP2002: {
    cause:
      'the value is a credential, or the object is a Secret or has credentials, and everyone who can read the repository could read it',
    fix: 'choose restore or release, or store the credential where the package only refers to it; bring a Secret with SOPS, a SealedSecret or an ExternalSecret',
  },
  BP2004: {
    cause:
      'nothing was proposed for the package in this cluster, it was decided before, or it is recorded as a draft only',
    fix: 'run backporch diff, then backporch restore, adopt or release',
  },
  BP2005: {
    cause:
      'the cluster changed after the proposal was written, so approving would decide about something else',
    fix: 'review the updated proposal, then decide',
  },
  BP2006: {
    cause: 'other pushes to the base branch or the ledger happened between each read and push',
    fix: 'run again when the branch is quiet; nothing was written',
  },
  BP2007: {
    cause:
      'the place is an alias, a merged key or in a form that cannot be edited without moving other lines, or the path is one that git forbids',
    fix: 'edit the file by hand, or choose restore or release',
  },
  BP2008: {
    cause:
      'live agrees with git, the differences are no drift or wait for the syncer, or a decision is not applied yet',
    fix: 'run backporch diff; if a decision was merged, let the syncer apply it and scan again',
  },
  BP2009: {
    cause:
      'the branch of the proposal has commits of another author, or a joint proposal is about more than this cluster',
    fix: 'merge its pull request by hand, or delete the branch and scan again',
  },
  BP2010: {
    cause:
      'the change cannot be decided that way: the undeclared object belongs to another object or to the cluster itself, or a rule would hide more than it',
    fix: 'choose another one of restore, adopt, release and ignore; the fix line says which can be',
  },
  BP2011: {
    cause: 'the question was answered with no, or there was no terminal to ask it on',
    fix: 'leave it undecided, or run again and answer y; without a terminal give --yes',
  },
  BP2012: {
    cause:
      'the records say that another branch is compared with this cluster, and one package cannot follow two branches',
    fix: 'give --branch with the branch that is named, or --cluster with the name of the other cluster',
  },
  BP2013: {
    cause:
      'the person may not write to the repository, is not a code owner of the file, or the comment was edited and the forge does not show by whom',
    fix: 'ask the people that the message names, or write the command in a new comment',
  },
  BP2014: {
    cause: 'more than one edit gives the live value without other changes, so the choice is yours',
    fix: 'name one of the places in the message with --via',
  },
  BP2015: {
    cause:
      'the deletion was approved, and the merged record has no copy of everything that would be deleted: the object is too large, its deletion removes other objects or data, or it was recorded by an older version',
    fix: 'save what you need of it and delete it by hand, or release it; for an older record, scan and approve again',
  },
  BP2016: {
    cause:
      'a later observation of the cluster exists: this one is from an old recording, or was pushed late',
    fix: 'observe the cluster itself, or record it again',
  },
  BP3001: {
    cause: 'the API server cannot be reached: its address, the network, a proxy or a firewall',
    fix: 'try kubectl get namespaces with the same context, then run again',
  },
  BP3002: {
    cause: 'the token or certificate has expired or was revoked, or the credential plugin failed',
    fix: 'log in again with the tool that made the kubeconfig',
  },
  BP3003: {
    cause: 'the role of this user or service account lacks the verb on the resource that is named',
    fix: 'apply the rules that backporch rbac prints for the packages (docs/guides/controller.md#rights-in-the-cluster); or write an ignore rule for the objects that should not be read',
  },
  BP3004: {
    cause: 'the API server has too many requests, from here or from others',
    fix: 'run again later, or select fewer packages',
  },
  BP3005: {
    cause: 'the API server, an aggregated API service or an admission webhook is broken',
    fix: 'check the service that the message names, then run again',
  },
  BP3006: {
    cause: 'the API server is slow or overloaded, or the network loses packets',
    fix: 'run again, or give the requests longer with --timeout',
  },
  BP3007: {
    cause:
      'the certificate of the server has another name, is expired, or is not signed by an authority that the kubeconfig trusts',
    fix: 'correct certificate-authority-data or the server of the kubeconfig',
  },
  BP3008: {
    cause: 'the address is that of a proxy, a login page or another service',
    fix: 'correct the server of the kubeconfig',
  },
  BP3009: {
    cause: 'its CustomResourceDefinition is not installed, or serves another version of it',
    fix: 'install it, or commit the version that the cluster serves',
  },
  BP3010: {
    cause:
      'the list expired or changed while it was read, was too large, or came from another cluster than the one in the records',
    fix: 'run again; if it persists, check the API service that serves the kind',
  },
  BP3011: {
    cause: 'validation or an admission rule of the cluster rejects what git has, also in a dry run',
    fix: 'correct the object in git, or the rule that rejects it',
  },
  BP3012: {
    cause:
      'a right is missing, such as that to read Secrets or to dry-run a creation, or the object does not say who wrote a field that git does not declare',
    fix: 'run backporch explain for the line, grant the right that it names, or record the cluster with what is missing; unproven objects are never reported as unchanged',
  },
  BP3013: {
    cause:
      'backporch writes to a cluster only what a merged decision says, and no decision covers this',
    fix: 'approve and merge the proposal first',
  },
  BP3014: {
    cause: 'no syncer applied the package after the merge, or the cluster was changed back',
    fix: 'apply the package with its syncer, or set settle: backporch in the policy, then scan',
  },
  BP3015: {
    cause:
      'the cluster was recreated, or the kubeconfig names another cluster than the one that had this name before',
    fix: 'give this cluster another name with --cluster, or delete its folder on the drift-ledger branch',
  },
  BP3016: {
    cause:
      'the package was not scanned for longer than the policy allows (detect.staleAfter, three times detect.interval by default): its current state is unknown',
    fix: 'run backporch scan, and check why the controller or the scheduled job does not; set detect.interval to how often you scan',
  },
  BP3017: {
    cause:
      'the package declares an object that its placement does not allow, or no live object shows that the syncer of the package applied it: another tenant may own it, so only its name is printed and nothing is written',
    fix: 'name the namespaces and kinds of the package with allow in a Placement, or remove the object from the package; backporch explain TEN-NAMESPACE explains that rule',
  },
  BP3018: {
    cause:
      'a Placement names the cluster and it was not scanned yet, or the report of the unit on the branch drift-ledger is damaged or of a newer version of Backporch',
    fix: 'run backporch scan for the cluster, with the newest version that writes to the repository; a scan replaces a damaged report',
  },
  BP4001: {
    cause: 'the address is wrong, or the network or the server does not answer',
    fix: 'try git ls-remote with the same address, then run again',
  },
  BP4002: {
    cause:
      'branch protection, a ruleset, a hook, a name that is taken, or a missing review or check rejects the push or the merge; the ledger and all other packages are written without the refused branch',
    fix: 'check the pull request, or exempt the account of backporch from the rule (backporch init --print-ruleset)',
  },
  BP4003: {
    cause: 'another push came first; nothing is overwritten',
    fix: 'run the command again',
  },
  BP4004: {
    cause: 'a name that git does not allow, or a push that would rewrite the base branch',
    fix: 'rename what the message names',
  },
  BP4005: {
    cause: 'there is no token or key, it has expired, or it may not write',
    fix: 'give one that may read and write this repository in BACKPORCH_TOKEN',
  },
  BP4006: {
    cause: 'an object that a commit names is missing or broken',
    fix: 'run git fsck in the repository, and clone it again if it reports a problem',
  },
  BP4007: {
    cause:
      'a work tree is on the branch that has to move, and the move would lose uncommitted changes',
    fix: 'commit or stash the changes, then run again',
  },
  BP4008: {
    cause:
      'the disk is full, or the folder may not be written to; for a clone, neither the cache folder nor a temporary one is writable',
    fix: 'free space, or give another folder; the cache can be deleted',
  },
  BP4009: {
    cause: 'a repository on disk is read and written by the program git, and it is not on the PATH',
    fix: 'install git, or name the repository by its https address',
  },
  BP4010: {
    cause:
      'its address is of a form or a protocol that is not used, its format is too new, or it has too many branches and tags',
    fix: 'use https://…, ssh://…, user@host:path, file://… or a path; the message says what else is wrong',
  },
  BP4011: {
    cause:
      'the clone is shallow, as a checkout in CI is by default, and something depends on a commit before its first one',
    fix: 'run git fetch --unshallow in it (actions/checkout: fetch-depth: 0), or name the remote itself with --repo',
  },
  BP5001: {
    cause: 'the address of the forge is wrong, or the network or the forge does not answer',
    fix: 'open the address in a browser on the same network, then run again',
  },
  BP5002: {
    cause: 'there is no token, it has expired, or the App is not installed there',
    fix: 'set BACKPORCH_TOKEN, GITHUB_TOKEN or GITEA_TOKEN, or BACKPORCH_APP_ID with its key',
  },
  BP5003: {
    cause:
      'the token does not reach the repository, or lacks a right; forges give the same answer for both',
    fix: 'grant what the message names: contents and pull requests, to read and write',
  },
  BP5004: {
    cause: 'the requests that the forge allows in an hour are used up',
    fix: 'run again after the time that the message names',
  },
  BP5005: {
    cause: 'the forge is down or has a fault',
    fix: 'check its status page, then run again',
  },
  BP5006: {
    cause: 'it rejects the request: a rule, a limit, or a pull request in an unexpected state',
    fix: 'follow the fix line; the why line quotes the forge',
  },
  BP5007: {
    cause: 'the address belongs to another product, or to a proxy or a login page',
    fix: 'correct the address, or name the forge with --forge',
  },
  BP5008: {
    cause: 'it was archived, renamed, moved or deleted',
    fix: 'name it by its new address with --repo, or take it out of the archive',
  },
  BP9001: {
    cause: 'an internal error; no problem with your files is known',
    fix: 'run again with --debug, and report the output',
  },
}
