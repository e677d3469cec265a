// Without the fonts that the theme would bring: those of the system are there at once.
import DefaultTheme from 'vitepress/theme-without-fonts'
import './style.css'

export default DefaultTheme
