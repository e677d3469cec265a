/**
 * What the shells need to be told. They know nothing of the commands: they ask `webloom __complete`, so that a script that was
 * printed once fits later releases, and each project's own.
 */

import { didYouMean, UsageError } from '@webloom/core'

// Bash splits words at COMP_WORDBREAKS, of which = and : stand in ours, and replaces only what follows the last of them. What it
// is given it puts into the line as it is, but for names of files: a blank, or a $( ) in a name, would then be the shell's. What
// stands behind a quotation mark that is still open is quoted for that mark; %q is safe anywhere, if not always beautiful.
const BASH = `# bash completion of webloom. In ~/.bashrc:   source <(webloom completion bash)
_webloom() {
  local line=\${COMP_LINE:0:COMP_POINT} IFS=$'\\n' candidate kept='' files='' at char
  local word=\${line##*[[:space:]]}
  [[ $COMP_WORDBREAKS == *=* && $word == *=* ]] && kept=\${word%"\${word##*=}"}
  [[ $COMP_WORDBREAKS == *:* && \${word#"$kept"} == *:* ]] && kept=\${word%"\${word##*:}"}
  COMPREPLY=()
  while read -r candidate; do
    if [[ $candidate == :files ]]; then
      files=1
      compopt -o filenames
      while read -r candidate; do
        COMPREPLY+=("$candidate")
      done < <(compgen -f -- "\${word#"$kept"}")
    else
      COMPREPLY+=("\${candidate#"$kept"}")
    fi
  done < <("\${COMP_WORDS[0]}" __complete bash -- "$line" 2>/dev/null)
  local typed=\${COMP_WORDS[COMP_CWORD]:-}
  local quote=\${typed:0:1}
  [[ \${typed:1} == *"$quote"* ]] && quote=''
  if [[ ! $files ]]; then
    for at in \${!COMPREPLY[@]}; do
      candidate=\${COMPREPLY[at]}
      case $quote in
        \\')
          candidate=\${candidate//"'"/"'\\\\''"}
          ;;
        \\")
          for char in \\\\ '"' '$' '\`'; do
            candidate=\${candidate//"$char"/"\\\\$char"}
          done
          ;;
        *)
          printf -v candidate %q "$candidate"
          ;;
      esac
      COMPREPLY[at]=$candidate
    done
  fi
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *[=/] ]] && compopt -o nospace
  return 0
}
complete -F _webloom webloom
`

const ZSH = `#compdef webloom
# zsh completion of webloom. In ~/.zshrc, below compinit:   source <(webloom completion zsh)
_webloom() {
  local -a lines plain open plain_shown open_shown
  local line value files=0
  lines=("\${(@f)$("\${(Q)words[1]}" __complete zsh -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  for line in $lines; do
    if [[ $line == :files ]]; then
      files=1
      continue
    fi
    value=\${line%%$'\\t'*}
    if [[ $value == *[=/] ]]; then
      open+=("$value")
      open_shown+=("\${line/$'\\t'/   }")
    else
      plain+=("$value")
      plain_shown+=("\${line/$'\\t'/   }")
    fi
  done
  (( $#plain )) && compadd -l -d plain_shown -- $plain
  (( $#open )) && compadd -l -S '' -d open_shown -- $open
  if (( files )); then
    # A file is what stands behind the = of --logfile=. With a quotation mark between them compset would leave what is typed twice.
    [[ $words[CURRENT] == --*=* && $words[CURRENT] != *[\\'\\"]* ]] && compset -P '--*='
    _files
  fi
  (( $#lines ))
}
if [[ $funcstack[1] == _webloom ]]; then
  _webloom "$@"
else
  compdef _webloom webloom
fi
`

const FISH = `# fish completion of webloom:   webloom completion fish > ~/.config/fish/completions/webloom.fish
function __webloom_candidates
    set -l words (commandline -opc)
    # As a program would get it: what is chosen fish quotes again.
    set -l typed (commandline -ct | string replace -r '^[\\'"]' '' | string unescape)
    set -l option (string match -r -- '^--[^=]*=' "$typed")
    for line in ($words[1] __complete fish -- $words[2..-1] "$typed" 2>/dev/null)
        if test "$line" = ':files'
            for path in (__fish_complete_path (string replace -r -- '^--[^=]*=' '' "$typed"))
                echo "$option$path"
            end
        else
            echo $line
        end
    end
end
complete -c webloom -f -a '(__webloom_candidates)'
`

const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH }

export const SHELLS: readonly string[] = Object.keys(SCRIPTS)

/** Throws WL_USAGE for a shell that there is no script for. */
export function completionScript(shell: string): string {
  const script = SCRIPTS[shell]
  if (script !== undefined) return script
  throw new UsageError(
    'WL_USAGE',
    `there is no completion for ${JSON.stringify(shell)}.${didYouMean(shell, SHELLS)} There are ${SHELLS.join(', ')}`,
  )
}
